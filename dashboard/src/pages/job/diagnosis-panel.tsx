import type { ComponentChildren } from 'preact';
import type { Diagnosis } from '../../data/diagnosis.js';
import { here } from '../../util/router.js';
import { Panel } from '../../ui/basics.js';
import { Table } from '../../ui/table.js';

/** What happened in a run, the rows that show it, and one action. */
export function DiagnosisPanel(props: {
  jobId: string;
  diagnosis: Diagnosis | null | undefined;
  /** The button; absent: the action is said in words. */
  button?: ComponentChildren;
  /** false: the page has the facts elsewhere. */
  hasFacts?: boolean;
}) {
  const { jobId, diagnosis, button, hasFacts = true } = props;
  if (!diagnosis) return null;
  const { sentence, facts, rows, action } = diagnosis;
  return (
    <Panel title="What happened">
      <p class="verdict">{sentence}</p>
      {hasFacts && facts.length > 0 && (
        <ul class="diagnosis-facts">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {rows.length > 0 && <Rows jobId={jobId} rows={rows} />}
      {action && (
        <div class="diagnosis-action">
          {button ?? <p>Next: {action.label}.</p>}
          {action.prompt_addition !== null && <code>{action.prompt_addition}</code>}
        </div>
      )}
    </Panel>
  );
}

function Rows({ jobId, rows }: { jobId: string; rows: Diagnosis['rows'] }) {
  return (
    <Table label="Rows that show it" heads={['Row', 'Expected', 'Answered', 'Cause']} class="diagnosis-rows">
      {rows.map(({ row, trace_id: trace, expected, answered, because }) => (
        <tr key={trace}>
          <td>
            <a href={here({ trace: `${jobId}:${trace}` })}>{row}</a>
          </td>
          <td dir="auto">{expected ?? '–'}</td>
          <td dir="auto">{answered || '–'}</td>
          <td>{because}</td>
        </tr>
      ))}
    </Table>
  );
}
