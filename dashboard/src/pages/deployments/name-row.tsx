import { client } from '../../data/client.js';
import { rewardOf } from '../../data/deployment/reward.js';
import { useResource } from '../../data/resource.js';
import { count, dollars, milliseconds, reward } from '../../util/format.js';
import { link } from '../../util/router.js';
import { Badge, StuckBadge, Time } from '../../ui/basics.js';
import { RetiresBadge } from '../../ui/retires-badge.js';
import { NotRead } from './version/not-read.js';
import { useSeen } from '../../ui/hooks/in-view.js';
import type { NameGroup } from './version/versions.js';

const pollMs = 15_000;

/** A name with its live version, else the newest. Figures are read once the row is in view. */
export function NameRow({ group: { name, live, newest, versions } }: { group: NameGroup }) {
  const [row, isSeen] = useSeen<HTMLTableRowElement>();
  const shown = live ?? newest;
  const deployment = useFigures(`${shown.id} ${shown.status}`, isSeen, (signal) => handleOf(shown.id).get({ signal }));
  const stats = useFigures(
    shown.id,
    isSeen,
    (signal) => handleOf(shown.id).stats({ signal }),
    shown.status === 'ready' ? pollMs : null,
  );
  const error = deployment.error ?? stats.error;
  const { requests, errors, latency_ms: latency, usage } = stats.data ?? {};
  const first = deployment.data ? rewardOf(deployment.data) : null;
  return (
    <tr ref={row}>
      <td class="name-cell">
        <a class="row-link" href={link(['deployments', name])}>
          {name}
        </a>
      </td>
      <td class="short">
        <Badge status={live ? 'live' : newest.status} />{' '}
        {live && newest.id !== live.id && newest.status !== 'ready' && <Badge status={newest.status} />}{' '}
        <StuckBadge stuck={newest.stuck} /> <RetiresBadge retires={shown.retires} />
        <NotRead error={error} />
      </td>
      <td class="number on-roomy">{count(versions)}</td>
      <td class="number" title={first?.name}>
        {reward(first?.reward)}
      </td>
      <td class="number">{count(requests)}</td>
      <td class={errors ? 'number bad' : 'number'}>{count(errors)}</td>
      <td class="number on-roomy">{milliseconds(latency?.p50)}</td>
      <td class="number on-roomy">{milliseconds(latency?.p95)}</td>
      <td class="number on-roomy">{dollars(usage?.total_cost_usd)}</td>
      <td class="short on-roomy">
        <Time at={newest.created_at} />
      </td>
    </tr>
  );
}

const handleOf = (id: string) => client.value.deployments.handle(id);

function useFigures<T>(
  key: string,
  isSeen: boolean,
  load: (signal: AbortSignal) => Promise<T>,
  pollMs: number | null = null,
) {
  return useResource(`${key} ${isSeen}`, async (signal) => (isSeen ? load(signal) : undefined), isSeen ? pollMs : null);
}
