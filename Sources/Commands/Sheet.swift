/// What of the daemon's lists is printed on a sheet of codes.

public import Page
public import Profiles
public import QRCode

extension CodeSheet {
    /// Adds the profiles that everybody may use, from the daemon's list.
    public mutating func add(profiles: Found, _ form: Link.Form) throws(QRCodeError) {
        for profile in profiles["profiles"].elements {
            guard profile["selfService"].flag == true, profile["hidden"].flag != true, let id = profile["id"].raw,
                Link.isIdentifier(id)
            else { continue }
            try add(profile: id, name: profile["name"].text ?? id, form)
        }
    }

    /// Adds a sticker for each device that has a name, from the daemon's list.
    public mutating func add(devices: Found) throws(QRCodeError) {
        for device in devices["devices"].elements {
            guard let name = device["name"].raw, let sticker = DeviceSticker(name: name) else { continue }
            try add(sticker)
        }
    }
}
