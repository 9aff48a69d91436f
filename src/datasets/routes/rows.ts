/** Reads the rows of a file one at a time, as JSON, JSONL or CSV. */
import { pointerOf } from '../../platform/http/server/errors.js';
import { inexactNumbers, inexactProblem, pathOfNumber } from '../../util/exact-json.js';
import { uploadLimits } from '../contract/dataset.js';
import { createTurns } from '../../util/turns.js';
import { readCsv, tooLong } from './csv.js';
import { decoded, inTurns, Unreadable } from './decode.js';
import type { Piece } from './json-list.js';
import { piecesOf } from './json-rows.js';

export type Format = 'json' | 'jsonl' | 'csv';

/** A row of a file, or its fault. It begins at `line` (from 1); in CSV it ends there. */
export type FileRow = { line: number; value: unknown } | { line: number; fault: string };

export async function* readRows(format: Format, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  const text = inTurns(decoded(chunks));
  try {
    if (format === 'csv') yield* readCsv(text);
    else yield* parsed(piecesOf(text, format === 'jsonl'));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    yield { line: error.line, fault: error.message };
  }
}

async function* parsed(pieces: AsyncIterable<Piece>): AsyncGenerator<FileRow> {
  const turns = createTurns();
  for await (const { line, text, row } of pieces) {
    await turns();
    const read = text.length > uploadLimits.rowChars ? { line, fault: tooLong } : parseRow(line, text);
    yield 'fault' in read && row !== undefined ? { line, fault: `${read.fault} (row ${row} of the list)` } : read;
  }
}

function parseRow(line: number, text: string): FileRow {
  try {
    const value: unknown = JSON.parse(text);
    const [inexact] = inexactNumbers(text);
    if (!inexact) return { line, value };
    return { line, fault: `has a value at ${pointerOf(pathOfNumber(text, inexact))} that ${inexactProblem(inexact)}` };
  } catch (error) {
    return { line, fault: `is not valid JSON: ${(error as Error).message.slice(0, 200)}` };
  }
}
