import { Panel } from '../../ui/basics.js';
import { reward } from '../../util/format.js';
import type { Migration } from '../../data/migration.js';

/** The rows with a lower reward on the new model, with both answers. */
export function WorsePanel({ migration: { worse } }: { migration: Migration }) {
  if (worse.length === 0) return null;
  return (
    <Panel title="Rows that got worse">
      <div class="scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Row</th>
              <th>Today</th>
              <th>New</th>
              <th>Input</th>
              <th>Answer today</th>
              <th>New answer</th>
            </tr>
          </thead>
          <tbody>
            {worse.map(({ seed, today_reward: today, reward: now, input, today_output: before, output }) => (
              <tr key={seed}>
                <td>{seed}</td>
                <td>{reward(today)}</td>
                <td>{reward(now)}</td>
                <td>{input}</td>
                <td>{before}</td>
                <td>{output}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
