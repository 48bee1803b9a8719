package acme.weather

import java.time.Instant
import kotlinx.coroutines.*
import acme.log.Logger as Log

const val MAX_AGE = 60

typealias Reading = Pair<Instant, Double>

interface Sensor {
    val name: String
    fun read(): Reading
    fun close() {
        println("closing the sensor $name")
    }
}

fun interface Listener {
    fun onReading(reading: Reading)
}

enum class Level(val limit: Int) {
    LOW(1) {
        override fun label() = "low"
    },
    HIGH(2) {
        override fun label() = "high"
    };

    abstract fun label(): String

    companion object {
        fun of(limit: Int): Level = entries.first { it.limit >= limit }
    }
}

sealed class Result {
    data class Success(val value: Double) : Result()
    data object Empty : Result()

    class Failure(val cause: Throwable) : Result() {
        fun explain(): String = "the reading failed: ${cause.message}"
    }
}

annotation class Slow

object Registry {
    private val sensors = mutableListOf<Sensor>()

    fun add(sensor: Sensor) {
        sensors += sensor
    }

    operator fun get(index: Int): Sensor = sensors[index]
}

abstract class Station(private val id: String) : Sensor {
    constructor(number: Int) : this(number.toString())

    init {
        require(id.isNotBlank()) { "a station needs a name" }
    }

    override val name: String
        get() = id

    abstract suspend fun refresh(force: Boolean = false)

    inner class Cursor {
        fun next(): Int {
            fun step(by: Int): Int {
                return by + 1
            }
            return step(1)
        }
    }

    companion object Factory {
        const val PREFIX = "st"

        @JvmStatic
        fun create(id: String): Station = Buoy(id)
    }
}

class Buoy(id: String) : Station(id) {
    override suspend fun refresh(force: Boolean) {
        val once = { n: Int -> n + 1 }
        once(1)
    }

    override fun read(): Reading = Reading(Instant.now(), 0.0)
}

@Slow
fun <T : Sensor> List<T>.mean(): Double {
    return map { it.read().second }.average()
}

fun String.toStation() = Buoy(this)

infix fun Int.above(other: Int) = this > other

@JvmInline
value class Celsius(val degrees: Double) {
    operator fun plus(other: Celsius) = Celsius(degrees + other.degrees)
}

fun main(args: Array<String>) {
    runBlocking { Registry[0].read() }
}
