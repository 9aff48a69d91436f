/** What keeps a promptfoo file from running, told at once, with the options that suffice. */
import { ConfigError } from '../../../service/config.js';

/** What resolves a fault: any option at all, if it is a choice between several. */
export type Remedy = 'prompt' | 'model' | 'scorer' | 'choice';

export class FileFault extends ConfigError {
  /** Null: only a change of the file. */
  readonly remedy: Remedy | null;
  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}

const listed = 10;

/** The faults of one file; the options that resolve them are named in its last line. */
export class Faults {
  readonly #found: ConfigError[] = [];
  /** A value of each option, as the last line shows it. */
  readonly values: Record<Exclude<Remedy, 'choice'>, string> = {
    prompt: 'FILE',
    model: 'provider/model',
    scorer: 'mapped',
  };

  /** An option that makes a choice. */
  choice = '--prompt 1';

  /** The result of `read`, or null after its fault, which is kept. */
  async try<T>(read: () => Promise<T> | T): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.add(error);
      return null;
    }
  }

  add(fault: ConfigError): void {
    this.#found.push(fault);
  }

  get count(): number {
    return this.#found.length;
  }

  /** Throws all faults as one. */
  throw(): void {
    if (this.#found.length === 0) return;
    // The same of several tests is told once.
    const counts = new Map<string, { message: string; count: number }>();
    for (const { message } of this.#found) {
      const kind = message.replaceAll(/\btest \d+/g, 'test');
      const { message: first, count } = counts.get(kind) ?? { message, count: 0 };
      counts.set(kind, { message: first, count: count + 1 });
    }
    const lines = [...counts.values()].map(({ message, count }) =>
      count > 1 && /\btest \d/.test(message) ? `${message} (and ${count - 1} times more)` : message,
    );
    const more = lines.length > listed ? [`… and ${lines.length - listed} more`] : [];
    throw new ConfigError([...lines.slice(0, listed), ...more, ...this.#advice()].join('\n'));
  }

  /** The options that are enough; none if the file must change. */
  #advice(): string[] {
    const remedies = this.#found.map((fault) => (fault instanceof FileFault ? fault.remedy : null));
    if (remedies.includes(null)) return [];
    const needed = (['prompt', 'model', 'scorer'] as const).filter((one) => remedies.includes(one));
    const options = needed.map((one) => `--${one} ${quoted(this.values[one])}`);
    const choices = remedies.filter((one) => one === 'choice').length;
    const rest = choices > (needed.length === 0 ? 1 : 0) ? '; of what it leaves open, the first is taken' : '';
    if (needed.length === 0) return [`One option is enough, such as ${this.choice}${rest}`];
    return [`${options.join(' and ')} ${options.length > 1 ? 'are' : 'is'} enough${rest}`];
  }
}

/** A value as a shell takes it. */
export function quoted(value: string): string {
  return /^[\w./:@+-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
