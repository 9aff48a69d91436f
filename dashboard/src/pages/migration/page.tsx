import type { Answer } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import { useUntilEnded } from '../../data/until-ended.js';
import { Badge, Loading, Problem, Stat, Stats, Time } from '../../ui/basics.js';
import { Heading } from '../../ui/heading.js';
import { signed } from '../../../../src/core/math/words.js';
import { dollars, reward, shortId, words } from '../../util/format.js';
import { link } from '../../util/router.js';
import { StepsPanel } from '../job/steps-panel.js';
import { WorsePanel } from '../job/worse-panel.js';

type Migration = Answer<'getMigration'>;

const colors = { no_worse: 'succeeded', worse: 'failed', inconclusive: 'paused' };

/** A move of what a name serves to another model: its jobs, its verdict, the rows that lost. */
export function MigrationPage({ id }: { id: string }) {
  const { data, error } = useUntilEnded(id, (signal) => client.value.migrations.handle(id).get({ signal }));
  if (!data)
    return (
      <>
        <Problem error={error} />
        {!error && <Loading />}
      </>
    );
  const { name, status, verdict, from, to, created_at: created, warnings } = data;
  const worse = data.worse.map(({ today_reward: before, today_output: outputBefore, ...row }) => ({
    ...row,
    before,
    outputBefore,
  }));
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
      <StepsPanel job={data} />
      <WorsePanel rows={worse} heads={['Today', 'New']} />
    </>
  );
}

function Figures({ migration }: { migration: Migration }) {
  const { max_loss: maxLoss, total_cost_usd: cost, max_cost_usd: most, side } = migration;
  const found = migration[side ?? 'optimized'] ?? migration.same_prompt;
  if (!found) return null;
  const { low, high } = found.difference_interval;
  return (
    <Stats>
      <Stat name="Today">{reward(found.today.reward)}</Stat>
      <Stat name="New model">{reward(found.reward)}</Stat>
      <Stat name={`Difference (95 %: ${signed(low)} to ${signed(high)})`}>{signed(found.difference)}</Stat>
      <Stat name="Loss that counts as none">{reward(maxLoss)}</Stat>
      <Stat name="Cost">
        {dollars(cost)}
        {most !== null && ` of ${dollars(most)}`}
      </Stat>
    </Stats>
  );
}
