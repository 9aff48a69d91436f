/** The rows of a job: which are wrong, with both answers. */
import { csvText } from '../../util/csv.js';
import {
  EvaluationHandle,
  GraphHandle,
  SessionHandle,
  type Item,
  type Query,
  type Ratchet,
} from '../../client/index.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import type { RowGroup } from '../../core/rows/groups.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { note, say, sayJson, shortLine, table } from '../service/output.js';
import { jobOf } from './jobs.js';

const mostChars = 40;

type Filter = Pick<Query<'listSessionRows'>, 'group' | 'q'>;
/** A row of any kind of job; `baseline_answer` undefined: of an evaluation. */
interface ShownRow {
  row: number;
  group: RowGroup;
  held_out?: boolean;
  input: string | null;
  expected: string | null;
  baseline_answer?: string | null;
  answer: string | null;
  reward: number | null;
  feedback: string | null;
  trace_id: string | null;
}

const pageSize = 500;

/** The first rows that pass a filter. Throws for a kind of job without rows. */
export async function readRows(client: Ratchet, id: string, filter: Filter, most: number): Promise<ShownRow[]> {
  const job = jobOf(client, id);
  const rows: ShownRow[] = [];
  for await (const row of shownRows(job, id, filter, Math.min(most, pageSize))) {
    rows.push(row);
    if (rows.length === most) break;
  }
  return rows;
}

async function* shownRows(
  job: ReturnType<Ratchet['handle']>,
  id: string,
  filter: Filter,
  limit: number,
): AsyncGenerator<ShownRow> {
  if (job instanceof SessionHandle || job instanceof GraphHandle)
    for await (const row of job.rows({ ...filter, limit })) yield searchRow(row);
  else if (job instanceof EvaluationHandle) yield* resultRows(job, filter, limit);
  else throw new ConfigError(`${id} is a ${jobKinds[kindOf(id)!].noun}, which has no rows`);
}

function searchRow({ row, group, seen, input, expected, baseline, candidate }: Item<'listSessionRows'>): ShownRow {
  return {
    row,
    group,
    held_out: !seen,
    input,
    expected,
    baseline_answer: baseline?.answer ?? null,
    answer: candidate?.answer ?? null,
    reward: candidate?.reward ?? null,
    feedback: candidate?.feedback ?? null,
    trace_id: candidate?.trace_id ?? null,
  };
}

async function* resultRows(job: EvaluationHandle, filter: Filter, limit: number): AsyncGenerator<ShownRow> {
  for (let offset = 0; ; offset += limit) {
    const { results, total = 0 } = await job.results({ ...filter, include: 'outputs', limit, offset });
    for (const { seed: row, group, input, expected, output, reward, feedback, trace_id } of results)
      yield {
        row,
        group: group!,
        input: input ?? null,
        expected: expected ?? null,
        answer: output ?? null,
        reward,
        feedback: feedback ?? null,
        trace_id,
      };
    if (results.length === 0 || offset + results.length >= total) return;
  }
}

/** Prints rows of a job; `csv` and `json`: all that pass, with whole texts. */
export async function rows(
  id: string,
  {
    group,
    search,
    limit,
    csv = false,
    json = false,
  }: {
    group?: RowGroup;
    search?: string;
    limit: number;
    csv?: boolean;
    json?: boolean;
  },
): Promise<void> {
  await withService(async (client) => {
    const found = await readRows(client, id, { group, q: search }, csv || json ? Infinity : limit);
    if (json) return sayJson(found);
    if (csv) return say(csvOf(found));
    if (found.length === 0) return note('No row passes.');
    const lines = found.map(({ row, group, input, expected, baseline_answer: before, answer }) => [
      String(row),
      group,
      shortLine(input, mostChars),
      shortLine(expected, mostChars),
      ...(before === undefined ? [] : [shortLine(before, mostChars)]),
      shortLine(answer, mostChars),
    ]);
    const hasBaseline = found[0]!.baseline_answer !== undefined;
    say(table([['ROW', 'GROUP', 'INPUT', 'EXPECTED', ...(hasBaseline ? ['BASELINE'] : []), 'ANSWER'], ...lines]));
  });
}

/** Rows as CSV, with a head. */
export function csvOf(found: readonly object[]): string {
  const [first] = found;
  return first ? csvText([Object.keys(first), ...found.map((row) => Object.values(row))]) : '';
}
