// Inbound
