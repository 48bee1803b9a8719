using System;
using System.Collections.Generic;
using Json = System.Text.Json.JsonSerializer;
using static System.Math;

namespace Acme.Inventory;

public delegate void StockChanged(object sender, int count);

[Flags]
public enum Kind
{
    None = 0,
    Solid = 1,
}

public interface IStore<T>
{
    T Find(string key);
    int Count { get; }
    event StockChanged Changed;
}

public record Item(string Name, int Count);

public record struct Size(int Width, int Height)
{
    public int Area() => Width * Height;
}

public readonly struct Money
{
    public readonly decimal Amount;

    public Money(decimal amount)
    {
        Amount = amount;
    }

    public static Money operator +(Money a, Money b) => new(a.Amount + b.Amount);

    public static implicit operator decimal(Money money) => money.Amount;
}

public abstract class Shelf<T> : IStore<T> where T : class
{
    private readonly Dictionary<string, T> items = new();

    static Shelf()
    {
    }

    protected Shelf(int size)
    {
        Size = size;
    }

    ~Shelf()
    {
    }

    public int Size { get; private set; }

    public int Count => items.Count;

    public event StockChanged Changed;

    public T this[string key]
    {
        get { return items[key]; }
        set { items[key] = value; }
    }

    public T Find(string key)
    {
        if (!items.TryGetValue(key, out var item))
        {
            throw new KeyNotFoundException($"no item named {key} here");
        }

        return item;
    }

    public abstract void Clear();

    void IDisposable.Dispose()
    {
    }

    public async Task<int> LoadAsync<TSource>(TSource source, CancellationToken token = default)
    {
        int Doubled(int n)
        {
            return n * 2;
        }

        Func<int, int> square = n => n * n;
        await Task.Delay(1, token);
        return Doubled(square(2));
    }

    private sealed class Entry
    {
        public T Value;

        public override string ToString() => "an entry of the shelf";

        internal enum State { Fresh, Stale }
    }
}

public static class Extensions
{
    public static bool IsEmpty(this string text) => text.Length == 0;

    [Obsolete("use the other one")]
    public static string Shout(this string text)
    {
        return text.ToUpper();
    }
}

public partial class Depot : Shelf<Item>
{
    public Depot() : base(10)
    {
    }

    public override void Clear()
    {
        Console.WriteLine(@"cleared C:\depot completely");
    }

    public static void Main(string[] args)
    {
    }
}
