import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphArchive } from './archive.js';

/** Answers with an archive as a download; 304 to who has these bytes already (`If-None-Match`). */
export function sendArchive(request: FastifyRequest, reply: FastifyReply, archive: GraphArchive): FastifyReply {
  const { bytes, etag, fileName } = archive;
  void reply.header('etag', etag);
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type('application/zip').header('content-disposition', `attachment; filename="${fileName}"`).send(bytes);
}

/** The comparison is the weak one (RFC 9110, 13.1.2): something on the way may have marked the tag as weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
