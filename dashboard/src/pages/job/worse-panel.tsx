import { Panel } from '../../ui/basics.js';
import { reward } from '../../util/format.js';

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
      <div class="table-box" tabIndex={0} role="region" aria-label="Table of rows that got worse">
        <table class="table">
          <thead>
            <tr>
              <th>Row</th>
              <th>{before}</th>
              <th>{after}</th>
              <th>Input</th>
              <th>Answer: {before.toLowerCase()}</th>
              <th>Answer: {after.toLowerCase()}</th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
