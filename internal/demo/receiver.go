package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"time"
)

// order is what the receiver is told first, job what it is told when the account is
// there. Both are lines of JSON.
type order struct {
	// Secret verifies what it gets.
	Secret string `json:"secret"`
}

type job struct {
	Server string `json:"server"`
	Key    string `json:"key"`
}

// standing is what the receiver says: where it listens.
type standing struct {
	Address netip.AddrPort `json:"address"`
}

// Receiver is the process that receives what is delivered. It ends when this one
// does, however that ends: then nobody holds the other end of its standard input.
type Receiver struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	secret  string
	address netip.AddrPort
	// gone is closed when it has ended, as err says.
	gone chan struct{}
	err  error
}

// stopWithin bounds how long the receiver may take to end.
const stopWithin = 5 * time.Second

// StartReceiver starts a program that calls Receive. It needs no environment.
func StartReceiver(ctx context.Context, errs io.Writer, program string, args ...string) (*Receiver, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	cmd.Env, cmd.Stderr = []string{}, errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the receiver: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the receiver: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the receiver: %w", err)
	}
	r := &Receiver{cmd: cmd, in: in, secret: newSecret(), gone: make(chan struct{})}
	err = r.meet(out)
	go func() {
		defer close(r.gone)
		r.err = cmd.Wait()
	}()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the receiver: %w", err), r.Stop())
	}
	return r, nil
}

// meet tells the receiver the secret, and hears where it listens.
func (r *Receiver) meet(out io.Reader) error {
	if err := json.NewEncoder(r.in).Encode(order{r.secret}); err != nil { //nolint:gosec // it has to know it
		return err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return err
	}
	var said standing
	err = json.Unmarshal(line, &said)
	r.address = said.Address
	return err
}

// Address is where it listens: 127.0.0.1 and a free port.
func (r *Receiver) Address() netip.AddrPort { return r.address }

// Gone is closed when it has ended.
func (r *Receiver) Gone() <-chan struct{} { return r.gone }

// employ has it use the ledger of claims.
func (r *Receiver) employ(j job) error {
	if err := json.NewEncoder(r.in).Encode(j); err != nil {
		return fmt.Errorf("tell the receiver: %w", err)
	}
	return nil
}

// Stop has it end, and waits until it has.
func (r *Receiver) Stop() error {
	_ = r.in.Close() // this is what it ends by
	timer := time.AfterFunc(stopWithin, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	<-r.gone
	if r.err != nil {
		return fmt.Errorf("stop the receiver: %w", r.err)
	}
	return nil
}
