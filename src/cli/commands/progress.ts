import { SingleBar } from 'cli-progress';
import type { Answer, Event, SessionHandle } from '../../client/index.js';
import { phaseName, progressInWords } from '../../core/jobs/phase.js';
import { unitOfView } from '../../core/jobs/unit.js';
import { decimal, dollars, meanText, note } from '../service/output.js';

export type SessionState = Answer<'getSession'>;

/** Time between two reads of the state while a bar shows it. */
const refreshMs = 500;

/** Parts of the search with a line each, where no bar is shown. */
const shownParts = 10;

/**
 * Follows a session to its end: a live bar on a terminal, elsewhere a line for each tenth of the
 * budget, of what comes after `from` answers.
 */
export async function followSession(session: SessionHandle, from = 0): Promise<SessionState> {
  const isLive = process.stderr.isTTY;
  let state = await session.get();
  const total = state.progress.max_rollouts ?? 0;
  const bar = new SingleBar({
    format: total > 0 ? ' {bar} {value}/{total} answers | {text}' : ' {value} answers | {text}',
    hideCursor: true,
    stream: process.stderr,
  });
  const text = () => [phaseOf(state), textOf(state)].join('');
  const show = () => bar.update(state.progress.rollouts_completed, { text: text() });
  if (isLive) bar.start(total, state.progress.rollouts_completed, { text: text() });
  try {
    let readAt = Date.now();
    let shown: number | null = null;
    const onEvent = async (event: Event) => {
      if (isLive && Date.now() - readAt > refreshMs) {
        state = await session.get();
        readAt = Date.now();
        show();
      }
      if (isLive || event.type !== 'generation_complete') return;
      const { generation, rollouts_completed: rollouts, cost_usd } = event.data;
      if (rollouts <= from) return;
      const share = total > 0 ? rollouts / total : generation / state.progress.total_generations;
      const part = Math.min(shownParts - 1, Math.floor(shownParts * share));
      if (part === shown) return;
      shown = part;
      const text = textOf({ ...event.data, usage: { total_cost_usd: cost_usd } });
      note(`  ${rollouts}${total > 0 ? `/${total}` : ''} answers, generation ${generation}: ${text}`);
    };
    state = await session.wait({ onEvent });
    if (isLive) show();
    return state;
  } finally {
    if (isLive) bar.stop();
  }
}

/** Empty once the session has ended. */
function phaseOf(session: SessionState): string {
  const { phase, generation } = session.progress;
  if (phase === null) return '';
  return `${phaseName(phase.name, unitOfView(session))} ${progressInWords(phase, generation)} | `;
}

function textOf({
  best_reward: best,
  estimated_reward: estimate,
  estimated_reward_interval: interval,
  usage,
}: Pick<SessionState, 'best_reward' | 'estimated_reward' | 'estimated_reward_interval'> & {
  usage: Pick<SessionState['usage'], 'total_cost_usd'>;
}) {
  const expected = estimate === null ? '' : `estimate ${meanText(estimate, interval)}, `;
  return `${expected}best reward ${decimal(best)}, ${dollars(usage.total_cost_usd)}`;
}
