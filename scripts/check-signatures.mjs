/** Judges the report of `npm audit signatures --json` on stdin: exit code 1 for a bad signature. */
import { text } from 'node:stream/consumers';

const report = parse(await text(process.stdin));
if (!Array.isArray(report?.invalid)) {
  console.error(`Signatures not checked: ${report?.error?.summary ?? 'npm gave no report'}.`);
} else {
  for (const { name, version } of report.invalid) console.error(`Bad signature: ${name}@${version}.`);
  console.error(`${report.invalid.length} bad signatures, ${report.missing?.length ?? 0} missing.`);
  process.exitCode = report.invalid.length > 0 ? 1 : 0;
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
