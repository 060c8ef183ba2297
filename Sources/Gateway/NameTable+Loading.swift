/// From the state directory to a table that is kept there.

import Bytes
import LinuxIO
import Names
import Store

extension NameTable {
    /// Makes a table over a range with the map that an earlier run kept, and starts its keeper.
    ///
    /// Without a directory that can be used the table works all the same, and the report says why it is not kept.
    static func start(
        pool: FakePool, seen: SeenAnswers = SeenAnswers(), directory: String,
        report: @escaping @Sendable (NameKeeping) -> Void
    ) -> NameTable {
        do throws(StoreError) {
            let names = try load(pool: pool, seen: seen, directory: directory, report: report)
            let table = names.table
            do throws(SystemCallError) {
                let thread = try WorkerThread.start(name: "fake-map", owning: names) { names in
                    var names = names
                    names.keeper.run()
                }
                table.setKeeper(thread)
            } catch {
                throw .system(error)
            }
            return table
        } catch {
            report(.failed(error))
            return NameTable(pool: pool, seen: seen)
        }
    }

    /// Makes the table and its keeper; the map is written anew once before this returns.
    static func load(
        pool: FakePool, seen: SeenAnswers = SeenAnswers(), directory path: String,
        report: @escaping @Sendable (NameKeeping) -> Void
    ) throws(StoreError) -> LoadedNames {
        let directory = try StateDirectory(path)
        var loader = FakeMapLoader(into: pool, now: Clock.now())
        do throws(StoreError) {
            let summary = try Journal.read(
                NameKeeper.file, in: directory, format: NameKeeper.format, limit: NameKeeper.sizeLimit
            ) { loader.take($0) }
            if let summary { report(.restored(loader.summary, dropped: summary.dropped)) }
        } catch {
            // Whatever it is, it is neither read as a map nor written over.
            let name = try directory.setAside(NameKeeper.file)
            report(.setAside(as: name, error))
        }
        do throws(SystemCallError) {
            let progress = try JournalProgress()
            let table = NameTable(pool: loader.pool, seen: seen, progress: progress)
            var keeper = NameKeeper(table, progress, directory, report: report)
            keeper.rewrite(Clock.now())
            return LoadedNames(table: table, keeper: keeper)
        } catch {
            throw .system(error)
        }
    }
}

/// A table and the one who keeps it.
struct LoadedNames: ~Copyable, Sendable {
    let table: NameTable
    var keeper: NameKeeper
}
