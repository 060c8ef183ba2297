/// x
public enum NamesStub {}
