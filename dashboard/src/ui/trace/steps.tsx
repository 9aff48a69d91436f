import { count, dollars, milliseconds } from '../../util/format.js';
import type { Trace } from './types.js';

/** What each step of a graph took. */
export function StepsTable({ steps }: { steps: NonNullable<Trace['steps']> }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Steps">
      <table class="table">
        <thead>
          <tr>
            <th>Step</th>
            <th class="number">Calls</th>
            <th class="number">Prompt tokens</th>
            <th class="number">Answer tokens</th>
            <th class="number">Cost</th>
            <th class="number">Latency, summed</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}
