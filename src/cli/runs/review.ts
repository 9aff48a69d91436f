/** The queue of reviews, as a table or a CSV file that is filled in and read back. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { verdicts, type ReviewVerdict } from '../../contracts/review.js';
import type { Ratchet } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { mapLimited } from '../../util/map-limited.js';
import { csvOf } from '../commands/rows.js';
import { withService } from '../service/connect.js';
import { note, say, sayJson, shortLine, table } from '../service/output.js';

const mostChars = 40;
/** Reviews that are sent at the same time. */
const atOnce = 4;

interface Options {
  import?: string;
  by?: string;
  limit: number;
  csv?: boolean;
  json?: boolean;
}

/** Prints what is to be reviewed of a job or a deployment, or sends the reviews of a file. */
export async function review(
  id: string,
  { import: path, by, limit, csv = false, json = false }: Options,
): Promise<void> {
  const reviews = path === undefined ? null : reviewsOf(path, await readText(path));
  await withService(async (client) => {
    if (reviews) {
      await mapLimited(reviews, atOnce, (each) => put(client, each, by));
      return say(`${reviews.length} reviews sent.`);
    }
    const { data, done, left } = await client.reviews.queue({ job_id: id, by, limit });
    if (json) return sayJson({ data, done, left });
    if (csv)
      return say(csvOf(data.map(({ reviews: _, ...item }) => ({ ...item, verdict: '', note: '', corrected: '' }))));
    note(`${done} reviewed, ${left} left.`);
    if (data.length === 0) return;
    const lines = data.map(({ row, subject_id: subject, input, expected, answer }) => [
      row === null ? subject : String(row),
      ...[input, expected, answer].map((text) => shortLine(text, mostChars)),
    ]);
    say(table([['ROW', 'INPUT', 'EXPECTED', 'ANSWER'], ...lines]));
  });
}

interface FileReview {
  jobId: string;
  subjectId: string;
  verdict: ReviewVerdict | null;
  note: string | null;
  corrected: string | null;
}

const put = (client: Ratchet, { jobId, subjectId, ...content }: FileReview, by: string | undefined) =>
  client.reviews.put(jobId, subjectId, { ...content, ...(by !== undefined && { by }) });

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path} could not be read: ${(error as Error).message}`);
  }
}

/** The lines of a file with a verdict, a note or a corrected answer. Throws for another verdict. */
export function reviewsOf(path: string, text: string): FileReview[] {
  const options = { columns: true as const, bom: true, delimiter: [',', ';', '\t'], relax_column_count: true };
  const lines = parse<Record<string, string | undefined>>(text, { ...options, skip_empty_lines: true });
  return lines.flatMap((line, index) => {
    const filled = (name: string) => line[name]?.trim() || null;
    const [verdict, noted, corrected] = ['verdict', 'note', 'corrected'].map(filled) as [string, string, string];
    if (!verdict && !noted && !corrected) return [];
    const at = `${path}, row ${index + 2}`;
    const [jobId, subjectId] = [filled('job_id'), filled('subject_id')];
    if (!jobId || !subjectId) throw new ConfigError(`${at}: job_id and subject_id are required`);
    if (verdict && !(verdicts as readonly string[]).includes(verdict))
      throw new ConfigError(`${at}: verdict must be one of ${verdicts.join(', ')}; got "${verdict.slice(0, 50)}"`);
    return [{ jobId, subjectId, verdict: verdict as ReviewVerdict | null, note: noted, corrected }];
  });
}
