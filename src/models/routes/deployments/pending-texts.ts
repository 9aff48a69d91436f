/** Texts that wait in a process for the database. */

interface Texts {
  request: string | null;
  answer: string | null;
}

/** Characters that wait, and that one statement writes. */
const maxChars = 64 * 1024 * 1024;
const charsAtOnce = 8 * 1024 * 1024;

const lengthOf = ({ request, answer }: Texts) => (request?.length ?? 0) + (answer?.length ?? 0);

export class PendingTexts<Item extends Texts> {
  private readonly items = new Set<Item>();
  private chars = 0;

  get size(): number {
    return this.items.size;
  }

  /** Returns false if too much waits already: then it is not added. */
  add(item: Item): boolean {
    if (this.chars + lengthOf(item) > maxChars) return false;
    this.items.add(item);
    this.chars += lengthOf(item);
    return true;
  }

  /** The first ones, one at least. */
  next(): Item[] {
    const next: Item[] = [];
    let left = charsAtOnce;
    for (const one of this.items) {
      left -= lengthOf(one);
      if (left < 0 && next.length > 0) break;
      next.push(one);
    }
    return next;
  }

  remove(items: readonly Item[]): void {
    for (const one of items) if (this.items.delete(one)) this.chars -= lengthOf(one);
  }
}
