import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Address classes of the egress rule. `private`: loopback, RFC 1918, carrier-grade NAT, unique
 * local, unspecified (Linux connects it to loopback). `forbidden`: link-local, metadata services,
 * multicast, reserved ranges, tunnels that hide an IPv4 address in an IPv6 one.
 */
export type AddressClass = 'public' | 'private' | 'forbidden';

/**
 * Cloud metadata services outside link-local: AWS (IPv6), Google (IPv6), Alibaba, Azure, Oracle.
 */
const metadata = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);
const privateRanges = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'unspecified']);
/** RFC 4291 §2.5.5.1, deprecated: an IPv4 address in the low 32 bits; unicast to ipaddr.js. */
const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96');

/** Classifies an IP address in any textual form; IPv4-mapped IPv6 addresses count as IPv4. */
export function classifyAddress(address: string): AddressClass {
  const parsed = ipaddr.process(address);
  if (metadata.has(parsed.toString())) return 'forbidden';
  const range = parsed.range();
  if (privateRanges.has(range)) return 'private';
  if (parsed instanceof ipaddr.IPv6 && parsed.match(ipv4Compatible)) return 'forbidden';
  return range === 'unicast' ? 'public' : 'forbidden';
}

/** A URL's hostname as an IP address without IPv6 brackets; null for a name. */
export function hostAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) ? bare : null;
}
