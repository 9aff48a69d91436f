import type { Answer, Ratchet } from '../../client/index.js';
import { evaluationTexts } from '../commands/evaluate.js';

type Row = Answer<'getEvaluationResults'>['results'][number];

export const lowestShown = 10;

/** The results of an evaluation: summary, diagnosis, and the rows with the lowest rewards. */
export async function lowestOf(client: Ratchet, id: string) {
  const evaluation = client.evaluations.handle(id);
  const [{ diagnosis }, { results, ...rest }] = await Promise.all([evaluation.get(), evaluation.results()]);
  const order = (left: Row, right: Row) => (left.reward ?? -Infinity) - (right.reward ?? -Infinity);
  const lowest = results
    .map((row, offset) => ({ row, offset }))
    .sort((left, right) => order(left.row, right.row))
    .slice(0, lowestShown);
  const withTexts = async ({ row, offset }: (typeof lowest)[number]) => {
    const read = await evaluationTexts(client, id, offset);
    // Rows that ended meanwhile have moved it.
    return rowView(read?.trace_id === row.trace_id ? read : row);
  };
  return { ...rest, diagnosis, rows: results.length, lowest: await Promise.all(lowest.map(withTexts)) };
}

function rowView({ seed, status, reward, error, input, expected, output, feedback, trace_id }: Row) {
  return {
    row: seed,
    reward,
    ...(status === 'failed' && { error }),
    input,
    expected,
    answer: output,
    feedback,
    trace_id,
  };
}
