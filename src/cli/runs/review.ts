/** The queue of reviews, as a table or a CSV file that is filled in and read back. */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { verdicts, type ReviewVerdict } from '../../contracts/review.js';
import type { Ratchet } from '../../client/index.js';
import { readRows } from '../../datasets/routes/rows.js';
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
  const reviews = path === undefined ? null : await reviewsOf(path, await readBytes(path));
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

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ConfigError(`${path} could not be read: ${(error as Error).message}`);
  }
}

/** The lines of a file with a verdict, a note or a corrected answer. Throws for others. */
export async function reviewsOf(path: string, bytes: Uint8Array): Promise<FileReview[]> {
  const reviews: FileReview[] = [];
  for await (const read of readRows('csv', Readable.from([bytes]))) {
    const at = read.line === 0 ? path : `${path}, line ${read.line}`;
    if ('fault' in read) throw new ConfigError(`${at} ${read.fault}`);
    const review = reviewOf(read.value as Record<string, string>, at);
    if (review) reviews.push(review);
  }
  return reviews;
}

/** null: the line says nothing. */
function reviewOf(line: Record<string, string | undefined>, at: string): FileReview | null {
  const filled = (name: string) => line[name]?.trim() || null;
  // As people type it, or a spreadsheet corrects it.
  const verdict =
    filled('verdict')
      ?.toLowerCase()
      .replaceAll(/[\s-]+/g, '_') ?? null;
  const [noted, corrected] = [filled('note'), filled('corrected')];
  if (!verdict && !noted && !corrected) return null;
  const [jobId, subjectId] = [filled('job_id'), filled('subject_id')];
  if (!jobId || !subjectId) throw new ConfigError(`${at}: job_id and subject_id are required`);
  if (verdict && !(verdicts as readonly string[]).includes(verdict))
    throw new ConfigError(`${at}: verdict must be one of ${verdicts.join(', ')}; got "${verdict.slice(0, 50)}"`);
  return { jobId, subjectId, verdict: verdict as ReviewVerdict | null, note: noted, corrected };
}
