import type { Health } from '../../data/health/health.js';
import { Badge, Panel, Stat, Stats } from '../../ui/basics.js';
import { count, dollars, duration } from '../../util/format.js';

/** Worker, queues, Temporal, Postgres, and the spend of today. */
export function ServicePanel({ known: { service, spend } }: { known: Health }) {
  return (
    <Panel title="Service">
      <Stats>
        {Object.entries(service.checks).map(([name, { ok, detail }]) => (
          <Stat key={name} name={name}>
            <Badge status={ok ? 'ready' : 'failed'} text={ok ? 'ok' : 'down'} />
            {detail !== null && <span class="stat-more">{detail}</span>}
          </Stat>
        ))}
        {service.queues?.map(({ type, waiting, oldest_s: oldest }) => (
          <Stat key={type} name={`Waiting ${type} tasks`}>
            {count(waiting)}
            {waiting > 0 && <span class="stat-more">oldest {duration(oldest * 1_000)}</span>}
          </Stat>
        ))}
        <Spent name="Spent today" spent={spend.organization} />
        <Spent name="By this key" spent={spend.key} />
      </Stats>
    </Panel>
  );
}

function Spent({
  name,
  spent: { today_usd: today, limit_usd: limit },
}: {
  name: string;
  spent: Health['spend']['key'];
}) {
  return (
    <Stat name={name} hint="Of the UTC day">
      {dollars(today)}
      {limit !== null && (
        <span class="stat-more">
          of {dollars(limit)} <progress aria-label={`${name} of the limit`} value={today} max={limit} />
        </span>
      )}
    </Stat>
  );
}
