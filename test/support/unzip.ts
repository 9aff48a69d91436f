import { fromBuffer, type Entry, type ZipFile } from 'yauzl';

/** The files of a ZIP in order; `date` is the archive's, without time zone. */
export async function unzip(bytes: Buffer): Promise<{ name: string; date: string; text: string }[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened))),
  );
  const found: { name: string; date: string; text: string }[] = [];
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', () => resolve(found));
    zip.on('entry', (entry: Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          found.push({
            name: entry.fileName,
            date: entry.getLastModDate({ timezone: 'local' }).toDateString(),
            text: Buffer.concat(chunks).toString(),
          });
          zip.readEntry();
        });
      });
    });
    zip.readEntry();
  });
}
