/** A binary heap: the least item first. */
export interface Heap<T> {
  readonly size: number;
  push(item: T): void;
  peek(): T | undefined;
  pop(): T | undefined;
}

export function createHeap<T>(less: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const at = (index: number): T => items[index] as T;
  const swap = (a: number, b: number): void => {
    const held = at(a);
    items[a] = at(b);
    items[b] = held;
  };
  const rise = (index: number): void => {
    for (let child = index; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!less(at(child), at(parent))) return;
      swap(child, parent);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      if (left >= items.length) return;
      const right = left + 1;
      const child = right < items.length && less(at(right), at(left)) ? right : left;
      if (!less(at(child), at(parent))) return;
      swap(child, parent);
      parent = child;
    }
  };

  return {
    get size() {
      return items.length;
    },
    push(item) {
      items.push(item);
      rise(items.length - 1);
    },
    peek: () => items[0],
    pop() {
      const top = items[0];
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return top;
    },
  };
}
