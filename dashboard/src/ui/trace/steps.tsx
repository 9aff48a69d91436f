import { count, dollars, milliseconds } from '../../util/format.js';
import type { Trace } from './types.js';
import { numbers, Table } from '../table.js';

/** What each step of a graph took. */
export function StepsTable({ steps }: { steps: NonNullable<Trace['steps']> }) {
  return (
    <Table
      label="Steps"
      heads={[
        'Step',
        numbers('Calls'),
        numbers('Prompt tokens'),
        numbers('Answer tokens'),
        numbers('Cost'),
        numbers('Latency, summed'),
      ]}
    >
      {steps.map((step) => (
        <tr key={step.step}>
          <td>{step.step}</td>
          <td class="number">{count(step.calls)}</td>
          <td class="number">{count(step.prompt_tokens)}</td>
          <td class="number">{count(step.completion_tokens)}</td>
          <td class="number">{dollars(step.cost_usd)}</td>
          <td class="number">{milliseconds(step.latency_ms)}</td>
        </tr>
      ))}
    </Table>
  );
}
