<?php
declare(strict_types=1);

namespace Acme\Mail;

use Acme\Log\Logger;
use Acme\Queue\{Job, Worker as QueueWorker};
use function Acme\Text\trim_all;
require_once __DIR__ . '/bootstrap.php';
require 'helpers/strings.php';

const MAX_SIZE = 1024;

interface Transport
{
    public function send(Message $message): bool;
    public function close(): void;
}

trait Retries
{
    private int $attempts = 0;

    public function again(callable $work): mixed
    {
        return $work($this->attempts++);
    }

    abstract protected function limit(): int;
}

enum Priority: int
{
    case Low = 1;
    case High = 2;

    public static function fromText(string $text): self
    {
        return $text === 'high' ? self::High : self::Low;
    }

    public function label(): string
    {
        return "priority of the message: {$this->value}";
    }
}

abstract class Base implements Transport
{
    protected const KIND = 'base';

    public function __construct(protected readonly Logger $log, private array $options = [])
    {
    }

    public function __destruct()
    {
        $this->close();
    }

    abstract public function name(): string;

    public static function &instance(): static
    {
        static $instance;
        return $instance;
    }

    public function __get(string $key): mixed
    {
        throw new \OutOfBoundsException('no such property here');
    }

    final protected function log(string ...$lines): void
    {
        foreach ($lines as $line) {
            $this->log->write($line);
        }
    }
}

#[Service('smtp')]
final class Smtp extends Base
{
    use Retries;

    public function name(): string
    {
        return 'smtp';
    }

    #[Deprecated]
    public function send(Message $message): bool
    {
        $check = function (string $address): bool {
            return str_contains($address, '@');
        };
        $short = fn (int $n): int => $n + 1;
        return $check($message->to);
    }

    public function close(): void {}

    protected function limit(): int { return 3; }
}

readonly class Message
{
    public function __construct(public string $to, public string $text) {}

    public function with(string $text): self
    {
        return new self($this->to, $text);
    }
}

function build(string $dsn, bool $strict = true): Transport
{
    if ($strict) {
        function check_dsn(string $dsn): void
        {
        }
    }
    return new Smtp(new Logger());
}

function &first(array &$list)
{
    return $list[0];
}

$anonymous = new class extends Base {
    public function name(): string
    {
        return 'anonymous';
    }
};

$render = function (array $rows) {
    return count($rows);
};

if (!function_exists('array_pick')) {
    function array_pick(array $from, string $key): mixed
    {
        return $from[$key] ?? null;
    }
}

echo <<<TEXT
This is a long message
TEXT;
