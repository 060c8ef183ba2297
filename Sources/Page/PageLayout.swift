/// What all pages have around their content: language, title, landmarks, and the way to the other pages.

/// The pages that there are for everybody, and those that a gateway may not have.
public struct PageOffers: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device's upstream decrypts, so its certificate can be had.
    public static let certificate = PageOffers(rawValue: 1)
    /// People may bring their own proxies.
    public static let ownProxy = PageOffers(rawValue: 2)
    /// The board for the wall.
    public static let board = PageOffers(rawValue: 4)
    /// The proxy for devices that stay on another Wi-Fi.
    public static let proxyScript = PageOffers(rawValue: 8)
    /// Names are learnt: the DNS service is on.
    public static let learn = PageOffers(rawValue: 16)
}

extension PageAnswer {
    /// A page with its content, called by its title and the gateway's name; a bare one stands alone, as on a wall.
    init(
        title: String, status: Int = 200, _ context: PageContext, policy: ContentPolicy = ContentPolicy(),
        isBare: Bool = false, @MarkupBuilder main: () -> Markup
    ) {
        let page = tag(.html, .fixed("lang", "en")) {
            tag(.head) {
                tag(.meta, .fixed("charset", "utf-8"))
                tag(.meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
                tag(.meta, .name("color-scheme"), .content("light dark"))
                tag(.title) { "\(title) – \(context.gateway)" }
                tag(.link, .fixed("rel", "stylesheet"), .href(PageLink("/style.css")))
                tag(.script, .source(PageLink("/page.js")), .flag("defer"))
            }
            tag(.body) {
                if !isBare { tag(.header) { tag(.p) { tag(.a, .href(PageLink("/"))) { foreign(context.gateway) } } } }
                tag(.main) { main() }
                if !isBare { Self.footer(context) }
            }
        }
        let document = Markup(literal: "<!DOCTYPE html>\n") + page
        self.init(status: status, type: Self.html, body: Array((document.html + "\n").utf8), policy: policy)
    }

    static let html = "text/html; charset=utf-8"

    private static func footer(_ context: PageContext) -> Markup {
        let offers = context.offers
        return tag(.footer) {
            tag(.nav, .labelled("All pages")) {
                tag(.ul) {
                    item("This phone", PageLink("/"))
                    item("My requests", PageLink("/requests"))
                    item("Check this phone", PageLink("/check"))
                    if offers.contains(.learn) { item("Learn domains", PageLink("/learn")) }
                    if offers.contains(.certificate) { item("Certificate", PageLink("/ca")) }
                    if offers.contains(.ownProxy) { item("My own proxy", PageLink("/adhoc")) }
                    item("Codes to print", PageLink("/codes"))
                    if offers.contains(.board) { item("Board", PageLink("/lab")) }
                }
            }
            tag(.p, .class("hint")) {
                "This page is at http://\(context.authority)/ and, for phones that use this gateway's DNS, at"
                    + " http://\(PageGuard.name)/."
            }
        }
    }

    private static func item(_ text: String, _ link: PageLink) -> Markup {
        tag(.li) { tag(.a, .href(link)) { text } }
    }
}

extension PageAnswer {
    /// Style and script, as a browser fetches them.
    public static let style = PageAnswer(
        status: 200, type: "text/css; charset=utf-8", body: Array(PageStyle.text.utf8))
    public static let script = PageAnswer(
        status: 200, type: "text/javascript; charset=utf-8", body: Array(PageScript.text.utf8))
    /// What is asked for and not there: the icon of a tab.
    public static let nothing = PageAnswer(status: 204, type: nil, body: [])
}
