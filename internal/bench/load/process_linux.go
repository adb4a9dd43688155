package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Positions in /proc/PID/stat, counted from what follows the name (proc(5)).
const (
	statParent   = 1
	statUser     = 11
	statSystem   = 12
	statChildren = 13 // user and system time of children that have ended
	statFields   = 15
	// ticksPerSecond is USER_HZ, which is 100 on every Linux that Go runs on.
	ticksPerSecond = 100
)

// stat is what the kernel tells of a process; false when there is none such.
func stat(pid string) ([]string, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat")) //nolint:gosec // what the kernel tells
	if err != nil {
		return nil, false
	}
	_, after, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	return fields, ok && len(fields) >= statFields
}

// parentOf is the process that started another; 0 when there is none such here,
// or when it is no PostgreSQL's.
func parentOf(pid int) int {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil || !strings.HasPrefix(string(name), "postgres") {
		return 0
	}
	fields, ok := stat(strconv.Itoa(pid))
	if !ok {
		return 0
	}
	parent, err := strconv.Atoi(fields[statParent])
	if err != nil {
		return 0
	}
	return parent
}

// familyTime is the processor time of a process and all its children, those that
// have ended included.
func familyTime(parent int) (time.Duration, error) {
	fields, ok := stat(strconv.Itoa(parent))
	if !ok {
		return 0, fmt.Errorf("read the database's processor time: process %d is gone", parent)
	}
	ticks := sum(fields[statUser : statChildren+2])
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	for _, dir := range all {
		if child, ok := stat(filepath.Base(dir)); ok && child[statParent] == strconv.Itoa(parent) {
			ticks += sum(child[statUser : statSystem+1])
		}
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

func sum(texts []string) (all int64) {
	for _, text := range texts {
		n, _ := strconv.ParseInt(text, 10, 64) // the kernel writes numbers
		all += n
	}
	return all
}
