import { useMigration, type Migration } from '../../data/migration.js';
import { Badge, Loading, Panel, Problem, Stat, Stats, Time } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { dollars, reward, shortId, signed, words } from '../../util/format.js';
import { link, pageOf } from '../../util/router.js';
import { WorsePanel } from './worse-panel.js';

const colors = { no_worse: 'succeeded', worse: 'failed', inconclusive: 'paused' };

/** A move of what a name serves to another model: its jobs, its verdict, the rows that lost. */
export function MigrationPage({ id }: { id: string }) {
  const { data, error } = useMigration(id);
  if (!data)
    return (
      <>
        <Problem error={error} />
        {!error && <Loading />}
      </>
    );
  const { name, status, verdict, from, to, created_at: created, warnings } = data;
  return (
    <>
      <div class="page-head">
        <Heading title={`${name} to ${to.model}`}>
          <span>
            <a href={link(['deployments'])}>Deployments</a> / <a href={link(['deployments', name!])}>{name}</a> /
            migration
          </span>
          <Badge status={verdict ? colors[verdict] : status} text={words(verdict ?? status)} />
        </Heading>
      </div>
      <p class="quiet">
        From {from.provider}/{from.model} to {to.provider}/{to.model}, <span class="mono">{shortId(id)}</span>, created{' '}
        <Time at={created} />
      </p>
      <Problem error={error ?? data.error} />
      {warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
      <Figures migration={data} />
      <Steps migration={data} />
      <WorsePanel migration={data} />
    </>
  );
}

function Figures({ migration }: { migration: Migration }) {
  const { max_loss: maxLoss, total_cost_usd: cost, side } = migration;
  const found = migration[side ?? 'optimized'] ?? migration.same_prompt;
  if (!found) return null;
  const { low, high } = found.difference_interval;
  return (
    <Stats>
      <Stat name="Today">{reward(found.today.reward)}</Stat>
      <Stat name="New model">{reward(found.reward)}</Stat>
      <Stat name={`Difference (95 %: ${signed(low)} to ${signed(high)})`}>{signed(found.difference)}</Stat>
      <Stat name="Loss that counts as none">{reward(maxLoss)}</Stat>
      <Stat name="Cost">{dollars(cost)}</Stat>
    </Stats>
  );
}

function Steps({ migration: { steps, deployment_id: deployed, not_deployed: reason } }: { migration: Migration }) {
  return (
    <Panel title="Steps">
      <ul class="log" aria-label="Steps">
        {steps.map(({ step, job_id: job, status, total_cost_usd: cost }) => (
          <li key={step}>
            <a href={pageOf(job)}>{words(step)}</a> <Badge status={status} /> <span class="quiet">{dollars(cost)}</span>
          </li>
        ))}
        {deployed !== null && (
          <li>
            <a href={pageOf(deployed)}>deployment {shortId(deployed)}</a>
          </li>
        )}
      </ul>
      {reason !== null && <p class="note">{reason}</p>}
    </Panel>
  );
}
