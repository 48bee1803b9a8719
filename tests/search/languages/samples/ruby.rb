require "json"
require_relative "support/clock"

module Harbour
  DEFAULT_BERTHS = 12

  class Error < StandardError; end

  class FullError < Error
    def initialize(port)
      super("no berth left in #{port}")
    end
  end

  module Countable
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def count_all
        @count_all ||= 0
      end
    end

    def counted?
      true
    end
  end

  class Port
    include Countable
    attr_reader :name, :berths

    class << self
      def open(name, berths: DEFAULT_BERTHS)
        new(name, berths)
      end

      def closed
        []
      end
    end

    def self.parse(text)
      name, berths = text.split(":", 2)
      new(name, Integer(berths))
    rescue ArgumentError => e
      raise Error, "cannot read the port: #{e.message}"
    end

    def initialize(name, berths)
      @name = name
      @berths = berths
      @ships = []
    end

    def <<(ship)
      raise FullError, name if full?

      @ships << ship
      self
    end

    def [](index)
      @ships[index]
    end

    def ==(other)
      other.is_a?(Port) && other.name == name
    end

    def berths=(value)
      @berths = value
    end

    def full? = @ships.size >= @berths

    def each(&block)
      return enum_for(:each) unless block

      @ships.each(&block)
    end

    def unload!
      @ships.clear
    end

    private

    def log(message)
      puts "port says #{message}"
    end

    protected def rank
      @berths
    end

    define_method(:to_label) do |width = 10|
      name.ljust(width)
    end
  end

  class Ship < Struct.new(:name, :length)
    def to_s
      name
    end

    class Crew
      def size
        3
      end
    end
  end

  Pilot = Struct.new(:name) do
    def greet
      "good morning, captain"
    end
  end
end

class Harbour::Tug
  def pull(ship, *ropes, strength: 1, **options)
    ropes.each { |rope| rope.tie(ship) }
  end

  def -@
    self
  end
end

class ::Lighthouse
  def shine; end
end

def main
  Harbour::Port.open("Hull")
end

def Harbour.version
  "1.0"
end
