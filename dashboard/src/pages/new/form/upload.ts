/** A file of rows as people have it: in the encoding of a spreadsheet, or a workbook. */
import { typeOfRows } from './draft.js';

const workbook = /\.(xlsx?|xlsm|xlsb|ods|numbers)$/i;

/** The text encoding that Excel writes where it does not write Unicode. */
const ofExcel = 'windows-1252';

/** Bytes of a file of unknown form that are looked at. */
const lookedBytes = 1_024;

export interface ReadFile {
  file: File;
  /** undefined: its name says it. */
  type: ReturnType<typeof typeOfRows> | undefined;
  /** What was assumed; null: nothing. */
  note: string | null;
}

/** The file in Unicode, in the form that its name says, or else its content. Refuses a workbook. */
export async function readableFile(file: File): Promise<ReadFile> {
  if (workbook.test(file.name))
    throw new Error(
      `${file.name} is a workbook. In the spreadsheet choose File, Save as (or Download), “CSV UTF-8”, and drop that file here.`,
    );
  if (/\.(json|jsonl|ndjson)$/i.test(file.name)) return { file, type: undefined, note: null };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isCsv = /\.(csv|tsv)$/i.test(file.name);
  // Binary content: the service refuses it and names its format.
  const encoding = bytes.includes(0) && !isUtf16(bytes) ? 'utf-8' : encodingOf(bytes);
  const type = isCsv ? 'text/csv' : typeOfRows(new TextDecoder(encoding).decode(bytes.subarray(0, lookedBytes)));
  if (encoding !== ofExcel) return { file, type, note: null };
  const text = new TextDecoder(ofExcel).decode(bytes);
  return {
    file: new File([text], file.name),
    type,
    note: 'Read as Windows-1252, as older Excel writes it. Check the accents below.',
  };
}

/** The service reads UTF-8, and UTF-16 with a byte order mark. */
function encodingOf(bytes: Uint8Array): string {
  if (isUtf16(bytes)) return bytes[0] === 0xff ? 'utf-16le' : 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return ofExcel;
  }
}

const isUtf16 = ([first, second]: Uint8Array) =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
