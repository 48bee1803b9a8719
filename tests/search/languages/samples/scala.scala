package acme.trains

import scala.collection.mutable
import scala.util.{Failure, Success, Try}
import java.time._

sealed trait Signal {
  def colour: String
  def isOpen: Boolean = colour == "green"
}

case object Red extends Signal {
  def colour = "red"
}

case object Green extends Signal {
  override def colour: String = "green"
}

case class Train(id: Int, cars: List[Car] = Nil) extends Ordered[Train] {
  type Weight = Long

  def this(id: String) = this(id.toInt)

  def +(car: Car): Train = copy(cars = car :: cars)

  override def compare(that: Train): Int = {
    id - that.id
  }

  lazy val weight: Weight = cars.map(_.weight).sum

  val doubled: Int => Int = x => x * 2

  private[trains] def checked[A](action: => A)(implicit clock: Clock): Try[A] = {
    def attempt(left: Int): Try[A] =
      if (left == 0) Failure(new Error("no attempt is left"))
      else Try(action)

    attempt(3)
  }

  class Door(side: Int) {
    def open(): Unit = {
      println(s"door $side of train $id opens")
    }
  }
}

object Train {
  val MaxCars = 20

  def apply(text: String): Train = new Train(text)

  def unapply(train: Train): Option[Int] = Some(train.id)

  object Implicits {
    implicit class RichInt(val n: Int) extends AnyVal {
      def trains: List[Train] = List.fill(n)(Train(n))
    }

    implicit def toTrain(id: Int): Train = Train(id)
  }
}

abstract class Car {
  def weight: Long
  def `type`: String = "car"
  protected def load(tons: Int*): Unit
}

final class Wagon[T](val content: T) extends Car with Serializable {
  def weight: Long = 10L
  protected def load(tons: Int*): Unit = ()
}

trait Clock {
  def now(): Instant
}

enum Line(val number: Int) {
  case North extends Line(1)
  case South extends Line(2)

  def label: String = s"line $number"
}

type Route = List[Line]

given Clock with {
  def now(): Instant = Instant.now()
}

extension (route: Route)
  def length2: Int = route.length * 2

package object defaults {
  def timetable: Map[Int, Train] = Map.empty
}

object Main extends App {
  @annotation.tailrec
  def run(left: Int): Unit =
    if (left > 0) run(left - 1)

  def main2(args: Array[String]): Unit = run(3)
}

@main def start(): Unit = Main.run(1)
