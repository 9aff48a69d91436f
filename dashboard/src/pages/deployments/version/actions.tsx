import { client } from '../../../data/client.js';
import { go, link, pageOf } from '../../../util/router.js';
import { shortId } from '../../../util/format.js';
import { ConfirmButton } from '../../../ui/confirm.js';
import type { Deployment } from '../../../data/deployment/types.js';

/** Play, roll back, promote and delete. */
export function DeploymentActions({ deployment, onChange }: { deployment: Deployment; onChange: () => Promise<void> }) {
  const { id, name, version, live, status, previous_id: previous } = deployment;
  const handle = client.value.deployments.handle(id);
  const rollBack = async () => {
    const { id: restored } = await handle.rollback();
    await onChange();
    go(pageOf(restored));
  };
  const promote = async () => {
    await handle.setLabel('production', { version });
    await onChange();
  };
  const remove = async () => {
    await handle.delete();
    go(link(['deployments']));
  };
  return (
    <div class="actions">
      {status === 'ready' && (
        <a class="button" href={link(['playground'], { deployment: live ? name : id, beside: live ? previous : name })}>
          Playground
        </a>
      )}
      {live && previous && (
        <ConfirmButton label="Roll back" title={`Roll back ${name}`} run={rollBack}>
          <p>
            New requests to {name} get {shortId(previous)}, the version before this one. Running requests end as they
            began.
          </p>
        </ConfirmButton>
      )}
      {!live && status === 'ready' && (
        <ConfirmButton label="Promote" title={`Promote version ${version}`} run={promote}>
          <p>
            New requests to {name} get this version at once, without its gate. A rollback returns to what is live now.
          </p>
        </ConfirmButton>
      )}
      <ConfirmButton label="Delete" title={`Delete ${shortId(id)}`} run={remove} kind="danger">
        <p>
          {live
            ? `${name} serves this version: after this it serves nothing, and requests get 404.`
            : 'This version can no longer be called or restored.'}{' '}
          Its snapshot stays.
        </p>
      </ConfirmButton>
    </div>
  );
}
