import type { z } from 'zod';
import type { evaluationResultsSchema } from '../../contracts/evaluations/evaluation.js';
import { pathOf } from '../commands/jobs.js';
import type { Api } from '../service/api.js';

type Results = z.output<typeof evaluationResultsSchema>;
type Row = Results['results'][number];

export const lowestShown = 10;

/** The results of an evaluation: its summary, and the rows with the lowest rewards. */
export async function lowestOf(api: Api, id: string) {
  const path = `${pathOf(id).path}/results`;
  const { results, ...rest } = await api.call<Results>('GET', path);
  const order = (left: Row, right: Row) => (left.reward ?? -Infinity) - (right.reward ?? -Infinity);
  const lowest = results
    .map((row, offset) => ({ row, offset }))
    .sort((left, right) => order(left.row, right.row))
    .slice(0, lowestShown);
  const withTexts = async ({ row, offset }: (typeof lowest)[number]) => {
    const page = await api.call<Results>('GET', `${path}?include=outputs&limit=1&offset=${offset}`);
    // Rows that ended meanwhile have moved it.
    const read = page.results.find(({ trace_id: trace }) => trace === row.trace_id);
    return rowView(read ?? row);
  };
  return { ...rest, rows: results.length, lowest: await Promise.all(lowest.map(withTexts)) };
}

function rowView({ seed, status, reward, error, input, expected, output, feedback, trace_id }: Row) {
  return {
    ...{ row: seed, reward },
    ...(status === 'failed' && { error }),
    ...{ input, expected, answer: output, feedback, trace_id },
  };
}
