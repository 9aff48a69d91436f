/** Reads the rows of a list in JSON, or of the one list with a known name in an object. */
import { uploadLimits } from '../contract/dataset.js';
import { Unreadable } from './decode.js';

/** The text of a row. */
export interface Piece {
  line: number;
  text: string;
  /** The number of the row in its list, from 0; rows of a list may share a line. */
  row?: number;
}

/** The names under which files keep their list of rows. */
export const listNames = new Set(['data', 'rows', 'examples', 'records', 'instances', 'items', 'samples', 'tests']);

const noList = 'must be a list of rows, or rows of one line each (application/jsonl)';
/** Characters kept of a text that may be a name. */
const maxName = 100;

/** The elements of the list. A library for streams of JSON would trust the file (ADR 29). */
export async function* elementsOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  const reader = new ListReader();
  for await (const chunk of chunks) {
    yield* reader.rowsOf(chunk);
    const { begun } = reader;
    if (begun && begun.text.length > uploadLimits.rowChars) return yield begun;
  }
  reader.end();
}

/** The state of a file after each of its characters. */
class ListReader {
  /** `around`: in an object, outside its list of rows. */
  private place: 'start' | 'around' | 'rows' | 'end' = 'start';
  private form: 'list' | 'object' = 'list';
  private line = 1;
  /** The open lists and objects. */
  private depth = 0;
  /** `depth` between two rows. */
  private rowDepth = 1;
  private isInText = false;
  private isEscaped = false;
  /** The last text of the object itself: a name or a value. */
  private name = '';
  /** The names of the lists of an object. */
  private readonly lists: string[] = [];
  private hasRows = false;
  private row = 0;
  /** The row that has begun and not ended. */
  begun: Piece | null = null;

  /** The rows that end in a chunk. */
  *rowsOf(chunk: string): Generator<Piece> {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at]!;
      if (char === '\n') this.line += 1;
      if (this.isInText) this.readText(char);
      else if (char <= ' ') continue;
      else if (this.place === 'start') this.start(char);
      else if (this.place === 'around') this.readAround(char);
      else if (this.place === 'end')
        throw new Unreadable(`has text after the end of the ${this.form}, at line ${this.line}`);
      else if (this.depth === this.rowDepth && (char === ',' || char === ']')) {
        const { begun, line, row } = this;
        this.endRow(char);
        if (begun) yield { ...begun, text: begun.text + chunk.slice(from, at) };
        else if (char === ',') yield { line, text: '', row };
      } else {
        if (!this.begun) {
          this.begun = { line: this.line, text: '', row: this.row };
          from = at;
        }
        this.nest(char);
      }
    }
    if (this.begun) this.begun.text += chunk.slice(from);
  }

  /** Throws where the file ends too early, or had no list. */
  end(): void {
    const hasBegun = this.depth > 0 || this.form === 'object';
    if (this.place !== 'end') throw new Unreadable(hasBegun ? 'ends in the middle of its rows' : noList);
    if (this.form === 'list' || this.hasRows) return;
    const advice =
      this.lists.length > 0
        ? `write its list alone (${quoted(this.lists)})`
        : 'pandas writes a list by orient="records"';
    throw new Unreadable(`is an object, not a list of rows; ${advice}`);
  }

  private start(char: string): void {
    if (char !== '[' && char !== '{') throw new Unreadable(noList);
    const isList = char === '[';
    this.form = isList ? 'list' : 'object';
    this.place = isList ? 'rows' : 'around';
    this.rowDepth = isList ? 1 : 2;
    this.depth = 1;
  }

  private readText(char: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (char === '\\') this.isEscaped = true;
    else if (char === '"') this.isInText = false;
    const isOfObject = this.isInText && this.form === 'object' && this.depth === 1;
    if (isOfObject && this.name.length < maxName) this.name += char;
  }

  private readAround(char: string): void {
    if (char === '"' && this.depth === 1) this.name = '';
    if (char === '[' && this.depth === 1) this.openList();
    this.nest(char);
  }

  private openList(): void {
    this.lists.push(this.name);
    if (!listNames.has(this.name)) return;
    if (this.hasRows)
      throw new Unreadable(`is an object with several lists of rows (${quoted(this.lists)}); write one alone`);
    this.hasRows = true;
    this.place = 'rows';
  }

  private endRow(char: ',' | ']'): void {
    this.begun = null;
    this.row += 1;
    if (char === ',') return;
    this.place = this.form === 'list' ? 'end' : 'around';
    this.depth -= 1;
  }

  private nest(char: string): void {
    if (char === '"') this.isInText = true;
    else if (char === '{' || char === '[') this.depth += 1;
    else if (char === '}' || char === ']') this.depth -= 1;
    // A list that `}` closes is no list.
    if (this.depth === 0) this.place = this.place === 'around' ? 'end' : 'start';
  }
}

function quoted(names: readonly string[]): string {
  return names
    .slice(0, 5)
    .map((name) => `"${name}"`)
    .join(', ');
}
