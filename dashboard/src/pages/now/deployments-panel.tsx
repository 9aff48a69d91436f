import { client } from '../../data/client.js';
import { reloadHealth, type DeploymentHealth, type Health } from '../../data/health/health.js';
import { minute, trouble } from '../../data/health/words.js';
import { useResource } from '../../data/resource.js';
import { Clock, Empty, Panel, Problem } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { errorsIn, Sparkline } from '../../ui/charts/sparkline.js';
import { StateBadge } from './state-badge.js';
import { count, milliseconds, shortId } from '../../util/format.js';
import { here, link, route } from '../../util/router.js';
import { numbers, roomy, Table } from '../../ui/table.js';

/** What serves a name; `?deployment=` opens its errors. */
export function DeploymentsPanel({ known }: { known: Health }) {
  const opened = route.value.query.get('deployment');
  const { deployments, at } = known;
  const found = deployments.find(({ name }) => name === opened);
  return (
    <Panel title="Deployments">
      {deployments.length === 0 && <Empty>No name is served.</Empty>}
      {deployments.length > 0 && (
        <Table
          label="Live deployments"
          heads={[
            'Name',
            'State',
            numbers('Requests, 15 min'),
            numbers('Errors'),
            roomy(numbers('p95')),
            roomy('Last hour'),
            '',
          ]}
        >
          {deployments.map((each) => (
            <DeploymentRow key={each.name} deployment={each} at={at} isOpen={each.name === opened} />
          ))}
        </Table>
      )}
      {found && <Errors deployment={found} />}
    </Panel>
  );
}

function DeploymentRow({ deployment, at, isOpen }: { deployment: DeploymentHealth; at: string; isOpen: boolean }) {
  const { name, version, last_15_minutes: quarter, minutes } = deployment;
  const errors = errorsIn(quarter.errors);
  return (
    <tr>
      <td class="name-cell">
        <a class="row-link" href={link(['deployments', name])}>
          {name}
        </a>{' '}
        <span class="quiet">v{version}</span>
      </td>
      <td class="short">
        <StateBadge state={deployment.state} /> {trouble(deployment)}
      </td>
      <td class="number">{count(quarter.calls)}</td>
      <td class={errors > 0 ? 'number bad' : 'number'}>{count(errors)}</td>
      <td class="number on-roomy">{milliseconds(quarter.p95_ms)}</td>
      <td class="on-roomy">
        <Sparkline label={`Requests and errors of ${name} in the last hour`} bars={minutes} at={at} />
      </td>
      <td>
        <div class="actions">
          <a class="button button-small" href={here({ deployment: isOpen ? null : name })}>
            {isOpen ? 'Hide errors' : 'Errors'}
          </a>
          <RollBack deployment={deployment} />
        </div>
      </td>
    </tr>
  );
}

function RollBack({
  deployment: { deployment_id: id, name, version, previous_id: previous },
}: {
  deployment: DeploymentHealth;
}) {
  if (previous === null) return null;
  const run = async () => {
    await client.value.deployments.handle(id).rollback();
    await reloadHealth();
  };
  return (
    <ConfirmButton label="Roll back" title={`Roll back ${name}`} run={run}>
      <p>
        New requests to {name} get {shortId(previous)}, the version before v{version}. Running requests end as they
        began.
      </p>
    </ConfirmButton>
  );
}

const shownFailures = 20;

/** Errors by code over time, and the latest failed requests. */
function Errors({ deployment }: { deployment: DeploymentHealth }) {
  const { deployment_id: id, name, minutes } = deployment;
  const { data, error } = useResource(
    `failures ${id}`,
    (signal) => client.value.deployments.handle(id).failures({ signal }),
    10_000,
  );
  const bad = minutes.filter(({ errors }) => errorsIn(errors) > 0).toReversed();
  const codes = [...new Set(bad.flatMap(({ errors }) => Object.keys(errors)))].sort();
  return (
    <section aria-label={`Errors of ${name}`}>
      <h3>Errors of {name}</h3>
      <Problem error={error} />
      {bad.length === 0 && <p class="quiet">None in the last hour.</p>}
      {bad.length > 0 && (
        <Table
          label={`Errors of ${name} by minute`}
          heads={['Minute', numbers('Requests'), ...codes.map((code) => ({ name: code, class: 'number mono' }))]}
          boxClass="now-errors"
        >
          {bad.map(({ start, calls, errors }) => (
            <tr key={start}>
              <td class="short">{minute(start)}</td>
              <td class="number">{count(calls)}</td>
              {codes.map((code) => (
                <td key={code} class="number">
                  {count(errors[code] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
      {data && data.data.length > 0 && (
        <ol class="log now-errors" aria-label={`Latest failed requests of ${name}`}>
          {data.data.slice(0, shownFailures).map(({ answer_id: answer, at, status, code, message }) => (
            <li key={answer}>
              <Clock at={at} /> {status} <span class="mono">{code}</span> {message}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
