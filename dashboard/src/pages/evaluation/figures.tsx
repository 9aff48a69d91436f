import { count, dollars } from '../../util/format.js';
import { Stat, Stats } from '../../ui/basics.js';
import type { Evaluation } from '../../data/evaluation/types.js';

const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);

export function Figures({ job }: { job: Evaluation }) {
  const { summary, progress, usage, budget, judge_agreement: judge } = job;
  return (
    <Stats>
      <Stat name={job.dataset ? 'Rows' : 'Seeds'}>
        {count(progress.completed)} / {count(progress.total)}
      </Stat>
      <Stat name="Failed">
        <span class={summary.num_failed > 0 ? 'bad' : ''}>{count(summary.num_failed)}</span>
      </Stat>
      <Stat name="Cost">
        {dollars(usage.total_cost_usd)}
        {budget.max_cost_usd !== null && <span class="stat-more"> of {dollars(budget.max_cost_usd)}</span>}
      </Stat>
      <Stat
        name="Tokens"
        hint={`${count(usage.prompt_tokens)} of prompts, ${count(usage.completion_tokens)} of answers`}
      >
        {count(usage.total_tokens)}
      </Stat>
      <Stat name="Model calls">
        {count(usage.calls)}
        {usage.cached_calls > 0 && <span class="stat-more"> {count(usage.cached_calls)} cached</span>}
      </Stat>
      {judge && (
        <Stat
          name="Judge agreement"
          hint={`On ${judge.outputs} labelled outputs; kappa ${judge.kappa?.toFixed(2) ?? '–'}, p ${judge.p_value.toFixed(3)}`}
        >
          {percent(judge.accuracy)}
          <span class={`stat-more ${judge.better_than_chance ? '' : 'bad'}`}>
            {judge.better_than_chance ? ' better than chance' : ' not better than chance'}
          </span>
        </Stat>
      )}
    </Stats>
  );
}
