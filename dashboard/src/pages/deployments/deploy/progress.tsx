import { link, pageOf } from '../../../util/router.js';
import { Badge, Problem } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { useDeployment } from '../../../data/deployment/follow.js';
import { DeploymentEvents } from '../version/events.js';
import { findingWords } from '../version/versions.js';

/** A new version until it is ready or has failed. */
export function Progress({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useDeployment(id);
  return (
    <Dialog title={`Deploying ${data?.name ?? '…'}`} onClose={onClose}>
      <p role="status">
        <Badge status={data?.status ?? 'pending'} /> {data?.gate && findingWords(data.gate)}
      </p>
      <Problem error={error ?? data?.error} />
      <DeploymentEvents id={id} />
      <div class="actions">
        <a class="button button-primary" href={pageOf(id)}>
          Open the deployment
        </a>
        {data?.live && (
          <a class="button" href={link(['playground'], { deployment: data.name })}>
            Playground
          </a>
        )}
      </div>
    </Dialog>
  );
}
