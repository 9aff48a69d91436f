/**
 * Reads CSV as spreadsheets write it. Invariants: a value is the text of its cell; the delimiter is
 * the one by which the first rows agree with the header; cells behind the last name are blank or
 * refused.
 */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse, type Options } from 'csv-parse';
import { CsvError as SampleError, parse as parseNow } from 'csv-parse/sync';
import { uploadLimits } from '../contract/dataset.js';
import { continued, inTurns } from './decode.js';

export interface CsvRow {
  line: number;
  value: Record<string, string>;
}

export type CsvFault = { line: number; fault: string };

/** Throws what the chunks throw. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRow | CsvFault> {
  const { head, isAll, text } = await headOf(chunks);
  const parser = parse({ ...optionsOf(head, isAll), info: true, max_record_size: uploadLimits.rowChars });
  // The iteration throws the errors.
  pipeline(Readable.from(inTurns(text)), parser, () => {});
  let header: string[] | null = null;
  let places = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const line = info.lines;
      if (header === null) {
        [header, places] = [namesOf(record), record.length];
        const fault = headerFault(header);
        if (fault !== null) return yield { line, fault };
        continue;
      }
      // Spreadsheets write rows of delimiters alone.
      if (record.length > 1 && record.every(isBlank)) continue;
      const fault = recordFault(record, header, places);
      const names = header;
      if (fault !== null) yield { line, fault };
      else yield { line, value: Object.fromEntries(names.map((name, index) => [name, record[index]!])) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 0;
    yield { line, fault: error.code === 'CSV_MAX_RECORD_SIZE' ? tooLong : `is not valid CSV: ${error.message}` };
  }
}

export const tooLong = `is longer than ${uploadLimits.rowChars.toLocaleString('en')} characters`;

/**
 * The names without surrounding white space, up to the last column that has one. A column before it
 * without a name, such as an index of pandas, is named by its number.
 */
function namesOf(record: readonly string[]): string[] {
  const names = record.map((name) => name.trim());
  const last = names.findLastIndex((name) => name !== '');
  return names.slice(0, last + 1).map((name, at) => name || `column ${at + 1}`);
}

function headerFault(names: readonly string[]): string | null {
  const most = uploadLimits.columns;
  if (names.length > most) return `names ${names.length} columns; at most ${most} are allowed`;
  const { columnChars } = uploadLimits;
  const long = names.findIndex((name) => name.length > columnChars);
  if (long >= 0)
    return `names column ${long + 1} with ${names[long]!.length} characters; at most ${columnChars} are allowed`;
  const seen = new Set<string>();
  const repeated = names.find((name) => seen.size === seen.add(name).size);
  return repeated === undefined ? null : `names the column "${repeated}" twice`;
}

/** `places`: the cells of the header, of which those at the end may be blank. */
function recordFault(record: readonly string[], names: readonly string[], places: number): string | null {
  const surplus = record.findIndex((cell, index) => index >= names.length && !isBlank(cell));
  if (record.length >= names.length && surplus < 0) return null;
  if (record.length === places) return `has a value in place ${surplus + 1}, where the header names no column`;
  return `has ${record.length} values, and the header names ${names.length} columns`;
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

const headChars = 65_536;

/** The beginning of a text, and the whole text. */
async function headOf(
  chunks: AsyncIterable<string>,
): Promise<{ head: string; isAll: boolean; text: AsyncGenerator<string> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = '';
  let isAll = false;
  while (head.length < headChars && !isAll) {
    const next = await iterator.next();
    if (next.done) isAll = true;
    else head += next.value;
  }
  return { head: head.slice(0, headChars), isAll: isAll && head.length <= headChars, text: continued(head, iterator) };
}

/** A tab first: names hold commas rather than tabs. */
const delimiters = ['\t', ',', ';', '|'];
/** Records that are compared with the header. */
const sampled = 50;

function optionsOf(head: string, isAll: boolean): Options {
  const common: Options = {
    // As in `5" pipe`.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: lineEnds(head),
  };
  // Excel's own note of the delimiter.
  const noted = /^\s*sep=(\S|\t)[ \t]*\r?\n/i.exec(head);
  if (noted) return { ...common, delimiter: noted[1]!, from: 2 };
  // A quoted name may have several lines.
  const header = head
    .trimStart()
    .replaceAll(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1)[0]!;
  const present = delimiters.filter((mark) => header.includes(mark));
  const agreeing = present.find((delimiter) => agrees(head, isAll, { ...common, delimiter }));
  return { ...common, delimiter: agreeing ?? present[0] ?? ',' };
}

/** Old files of Macintosh end lines by a carriage return alone. */
function lineEnds(head: string): string[] {
  const first = /\r\n|\n|\r/.exec(head.replaceAll(/"[^"]*"/g, ''))?.[0];
  return first === '\r' ? ['\r\n', '\n', '\r'] : ['\r\n', '\n'];
}

/** Whether the first records have as many cells as the header, blank ones at their end apart. */
function agrees(head: string, isAll: boolean, options: Options): boolean {
  let records: string[][];
  try {
    records = parseNow(head, { ...options, to: sampled }) as string[][];
  } catch (error) {
    // A sample may end within a quotation.
    if (error instanceof SampleError) return false;
    throw error;
  }
  const complete = isAll || records.length === sampled ? records : records.slice(0, -1);
  const [header = [], ...others] = complete;
  const names = namesOf(header);
  return (
    names.length > 1 &&
    others.every((record) => record.every(isBlank) || recordFault(record, names, header.length) === null)
  );
}
