/// Users and groups by name: who is at the other end of a Unix socket, and whom a socket is for.
///
/// Where the machine asks a directory service (nss), these calls wait for it.

internal import Glibc

public enum UserName {
    /// The number of the user that this process acts as; 0 is root.
    public static var own: UInt32 { geteuid() }

    /// The name of a user; nil where nobody has the number.
    public static func of(uid: UInt32) -> String? {
        var entry = unsafe passwd()
        return unsafe Accounts.ask { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let result = unsafe getpwuid_r(uid, &entry, buffer, size, &found)
            guard unsafe found != nil, let name = unsafe entry.pw_name else { return (result, nil) }
            return unsafe (result, String(cString: name))
        }
    }
}

public enum GroupName {
    /// The number of a group; nil where no group has the name.
    public static func id(of name: String) -> UInt32? {
        var entry = unsafe group()
        return unsafe Accounts.ask { buffer, size in
            var found: UnsafeMutablePointer<group>?
            let result = unsafe getgrnam_r(name, &entry, buffer, size, &found)
            return unsafe (result, found == nil ? nil : entry.gr_gid)
        }
    }
}

private enum Accounts {
    /// Asks with room for the texts of the answer, and with more where that was too little (a group of thousands).
    @unsafe static func ask<Answer>(
        _ question: (UnsafeMutablePointer<CChar>, Int) -> (result: CInt, answer: Answer?)
    ) -> Answer? {
        var size = 4096
        while size <= 1 << 20 {
            var room = [CChar](repeating: 0, count: size)
            let (result, answer) = unsafe room.withUnsafeMutableBufferPointer { room in
                guard let start = room.baseAddress else { return (ERANGE, nil as Answer?) }
                return unsafe question(start, room.count)
            }
            guard result == ERANGE || result == EINTR else { return answer }
            if result == ERANGE { size *= 4 }
        }
        return nil
    }
}
