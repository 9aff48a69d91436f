import { messageOf } from '../../../util/format.js';

/** Why a row has no figures. */
export function NotRead({ error }: { error: Error | undefined }) {
  if (error === undefined) return null;
  return (
    <span class="bad" title={messageOf(error)}>
      {' '}
      figures not read
    </span>
  );
}
