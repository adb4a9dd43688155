package deliver

// Running tells whether Run has begun and not ended: Wake does nothing before.
func (s *Service) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// FreeSlots is how many sends this node has room for.
func (s *Service) FreeSlots() int {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return s.slots.free
}
