/** A file of rows as people have it: in the encoding of a spreadsheet, or a workbook. */

const workbook = /\.(xlsx?|xlsm|xlsb|ods|numbers)$/i;

/** The text encoding that Excel writes where it does not write Unicode. */
const ofExcel = 'windows-1252';

export interface ReadFile {
  file: File;
  /** What was assumed; null: nothing. */
  note: string | null;
}

/** The file in Unicode. Throws with what to do about a workbook. */
export async function readableFile(file: File): Promise<ReadFile> {
  if (workbook.test(file.name))
    throw new Error(
      `${file.name} is a workbook. In the spreadsheet choose File, Save as (or Download), “CSV UTF-8”, and drop that file here.`,
    );
  if (!/\.(csv|tsv|txt)$/i.test(file.name)) return { file, note: null };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const name = file.name.replace(/\.txt$/i, '.csv');
  if (isUnicode(bytes)) return { file: name === file.name ? file : new File([bytes], name), note: null };
  const text = new TextDecoder(ofExcel).decode(bytes);
  return {
    file: new File([text], name),
    note: 'Read as Windows-1252, as older Excel writes it. Check the accents below.',
  };
}

/** The service reads UTF-8, and UTF-16 with a byte order mark. */
function isUnicode(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
