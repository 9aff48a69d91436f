import { Panel } from '../../ui/basics.js';
import { reward } from '../../util/format.js';
import { Table } from '../../ui/table.js';

export interface WorseRow {
  seed: number;
  before: number;
  reward: number;
  input: string | null;
  outputBefore: string | null;
  output: string | null;
}

/** The rows with a lower reward than before, with both answers; `heads` are before and after. */
export function WorsePanel({ rows, heads: [before, after] }: { rows: WorseRow[]; heads: [string, string] }) {
  if (rows.length === 0) return null;
  return (
    <Panel title="Rows that got worse">
      <Table
        label="Table of rows that got worse"
        heads={['Row', before, after, 'Input', `Answer: ${before.toLowerCase()}`, `Answer: ${after.toLowerCase()}`]}
      >
        {rows.map((row) => (
          <tr key={row.seed}>
            <td>{row.seed}</td>
            <td>{reward(row.before)}</td>
            <td>{reward(row.reward)}</td>
            <td>{row.input}</td>
            <td>{row.outputBefore}</td>
            <td>{row.output}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
