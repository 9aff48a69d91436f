/** The label of what a name serves: `support@production` is `support`. */
export const liveLabel = 'production';

/** The longest reference that is quoted. */
export const longestRef = 150;

/** What names a deployment: an id or a name; of a name a label or a version. */
export interface DeploymentRef {
  name: string;
  label: string | null;
  version: number | null;
}

const versionPattern = /^[1-9][0-9]{0,8}$/;

/** Reads `NAME`, `NAME@LABEL`, `NAME@VERSION` or an id; names and ids have no @. */
export function parseRef(text: string): DeploymentRef {
  const at = text.indexOf('@');
  if (at === -1) return { name: text, label: null, version: null };
  const [name, part] = [text.slice(0, at), text.slice(at + 1)];
  if (versionPattern.test(part)) return { name, label: null, version: Number(part) };
  return { name, label: part, version: null };
}
