import { commandAll } from '../../data/health/bulk.js';
import type { Health, ProviderHealth } from '../../data/health/health.js';
import { byProvider, runningOf, trouble } from '../../data/health/words.js';
import { Empty, Panel } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Sparkline } from '../../ui/charts/sparkline.js';
import { StateBadge } from './state-badge.js';
import { count, milliseconds, words } from '../../util/format.js';
import { JobNames } from './job-names.js';
import { numbers, roomy, Table } from '../../ui/table.js';

/** Each provider that was called in the last hour, with what it does to whom. */
export function ProvidersPanel({ known }: { known: Health }) {
  return (
    <Panel title="Providers">
      {known.providers.length === 0 && <Empty>No model was called in the last hour.</Empty>}
      {[...byProvider(known.providers)].map(([provider, models]) => (
        <section key={provider} class="now-provider" aria-label={`Provider ${provider}`}>
          <header class="panel-head">
            <h3>
              {provider} <StateBadge state={models[0]!.state} /> <span>{trouble(models[0]!)}</span>
            </h3>
            <PauseAll provider={provider} models={models} known={known} />
          </header>
          <p>{affects(models, known)}</p>
          <Models models={models} at={known.at} />
        </section>
      ))}
    </Panel>
  );
}

/** As `Running: a, b. Deployments: c.` */
function affects(models: readonly ProviderHealth[], { jobs }: Health): string {
  const running = runningOf(models, jobs).map(({ name, job_id: id }) => name ?? id);
  const deployments = [...new Set(models.flatMap((each) => each.deployments))];
  const parts = [
    ...(running.length > 0 ? [`Running: ${running.join(', ')}.`] : []),
    ...(deployments.length > 0 ? [`Deployments: ${deployments.join(', ')}.`] : []),
  ];
  return parts.length > 0 ? parts.join(' ') : 'No running job and no deployment names it.';
}

function PauseAll({ provider, models, known }: { provider: string; models: readonly ProviderHealth[]; known: Health }) {
  const running = runningOf(models, known.jobs);
  if (running.length === 0) return null;
  const ids = running.map(({ job_id: id }) => id);
  return (
    <ConfirmButton
      label={`Pause all on ${provider}`}
      title={`Pause ${running.length === 1 ? '1 job' : `${running.length} jobs`} on ${provider}`}
      run={() => commandAll('pause', ids)}
    >
      <JobNames jobs={running} />
      <p class="quiet">What is in flight ends. Deployments go on.</p>
    </ConfirmButton>
  );
}

const percent = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

function Models({ models, at }: { models: readonly ProviderHealth[]; at: string }) {
  return (
    <Table
      label={`Models of ${models[0]!.provider}`}
      heads={[
        'Model',
        'State',
        numbers('Calls, 15 min'),
        numbers('Errors'),
        roomy(numbers('429')),
        roomy(numbers('p50')),
        roomy(numbers('p95')),
        roomy(numbers('Last minute')),
        roomy('Last hour'),
      ]}
    >
      {models.map((each) => {
        const { model, last_15_minutes: quarter, last_minute: last, minutes } = each;
        const codes = Object.entries(quarter.errors).map(([code, n]) => `${words(code)}: ${n}`);
        return (
          <tr key={model}>
            <td>{model}</td>
            <td class="short">
              <StateBadge state={each.state} /> {trouble(each)}
            </td>
            <td class="number">{count(quarter.calls)}</td>
            <td class={codes.length > 0 ? 'number bad' : 'number'} title={codes.join(', ')}>
              {percent(quarter.error_rate)}
            </td>
            <td class="number on-roomy">{count(quarter.throttled)}</td>
            <td class="number on-roomy">{milliseconds(quarter.p50_ms)}</td>
            <td class="number on-roomy">{milliseconds(quarter.p95_ms)}</td>
            <td class="number on-roomy">
              {count(last.calls)} calls, {percent(last.error_rate)} failed
            </td>
            <td class="on-roomy">
              <Sparkline label={`Calls and errors of ${model} in the last hour`} bars={minutes} at={at} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
