import { client } from '../../../data/client.js';
import { go, link, pageOf } from '../../../util/router.js';
import { shortId } from '../../../util/format.js';
import { ConfirmButton } from '../../../ui/confirm.js';
import type { Deployment } from '../../../data/deployment/types.js';
import { sourceOf } from './versions.js';

/** Play, roll back, promote and delete. */
export function DeploymentActions({ deployment, onChange }: { deployment: Deployment; onChange: () => Promise<void> }) {
  const { id, name, live, status, previous_id: previous, snapshot_id: snapshotId } = deployment;
  const handle = client.value.deployments.handle(id);
  const rollBack = async () => {
    const { id: restored } = await handle.rollback();
    await onChange();
    go(pageOf(restored));
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
      {!live && status === 'ready' && snapshotId !== null && (
        <ConfirmButton label="Promote" title={`Promote ${shortId(id)}`} run={() => promote(deployment, snapshotId)}>
          <p>
            A new version of {name} with the content of this one is published without a gate. It goes live at once; a
            rollback returns to what is live now.
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

/** Publishes the content of a version as the newest of its name. */
async function promote(deployment: Deployment, snapshotId: string): Promise<void> {
  const snapshot = await client.value.deployments.snapshot(snapshotId);
  const body = { name: deployment.name, source: sourceOf(deployment, snapshot) };
  const { id } = await client.value.createDeployment(body as never);
  go(pageOf(id));
}
