/// Tests of LinuxIO.
