import Foundation
import struct UIKit.CGRect
@testable import Kitchen

public typealias Minutes = Int

public protocol Cookable {
    associatedtype Heat
    var name: String { get }
    init(name: String)
    func cook(for time: Minutes) throws -> Dish
    static func make() -> Self
}

enum KitchenError: Error {
    case burnt(at: Minutes)
    case empty

    var text: String {
        switch self {
        case .burnt: return "the dish has burnt"
        case .empty: return "nothing to cook"
        }
    }

    func log() {}
}

struct Dish: Equatable {
    let name: String
    private(set) var portions = 1

    init(name: String) {
        self.name = name
    }

    init?(raw: [String]) {
        guard let first = raw.first else { return nil }
        self.name = first
    }

    mutating func split(into count: Int) {
        portions *= count
    }

    static func == (left: Dish, right: Dish) -> Bool {
        return left.name == right.name
    }

    subscript(index: Int) -> Character {
        return name[name.index(name.startIndex, offsetBy: index)]
    }

    struct Label {
        func print() {}
    }
}

@objc(KTOven)
public final class Oven: NSObject {
    static let shared = Oven()

    enum Mode {
        case fan, grill
        func degrees() -> Int { return 180 }
    }

    private lazy var timer: Timer = {
        return Timer()
    }()

    override init() {
        super.init()
    }

    required convenience init(mode: Mode) {
        self.init()
    }

    deinit {
        timer.invalidate()
    }

    @discardableResult
    public func heat(
        to degrees: Int,
        then done: @escaping (Dish) -> Void
    ) async throws -> Int {
        func clamp(_ value: Int) -> Int {
            return min(value, 250)
        }
        let twice = { (n: Int) in n * 2 }
        return clamp(twice(degrees))
    }

    class func warm() {}
}

extension Oven: Cookable {
    func cook(for time: Minutes) throws -> Dish {
        throw KitchenError.burnt(at: time)
    }

    private struct Tray {
        func slide() {}
    }
}

extension Array where Element == Dish {
    func total() -> Int {
        return reduce(0) { $0 + $1.portions }
    }
}

actor Pantry {
    func take(_ item: String) async -> Int { return 0 }
}

public func serve<T: Cookable>(_ dish: T, at table: Int) -> String {
    return "served at table \(table)"
}

func + (left: Dish, right: Dish) -> [Dish] {
    return [left, right]
}
