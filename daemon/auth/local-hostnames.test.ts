import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { namesOf, readLocalHostnames, searchDomainsOf } from './local-hostnames.ts';

describe('own names', () => {
  it('uses the last search or domain line, without comments, dotless domains and invalid text', () => {
    expect(searchDomainsOf('nameserver 1.1.1.1\n')).toEqual([]);
    expect(searchDomainsOf('search a.example fritz.box # x\n')).toEqual(['a.example', 'fritz.box']);
    expect(searchDomainsOf('search old.net\ndomain New.Net.\r\n')).toEqual(['new.net']);
    expect(searchDomainsOf('domain a.net b.net')).toEqual(['a.net']);
    expect(searchDomainsOf('search . com corp a..b ok.net\n;search no.net')).toEqual(['ok.net']);
    expect(searchDomainsOf('search\nsearching x.net')).toEqual([]);
  });

  it('includes the host name, its short form and its aliases in the hosts file', () => {
    const hosts = '127.0.0.1 localhost\n127.0.1.1 box.home.net box # me\n10.0.0.9 other.net other\n';
    expect(namesOf('box', hosts)).toEqual(['box', 'box.home.net']);
    expect(namesOf('Box.home.NET', hosts)).toEqual(['box.home.net', 'box']);
    expect(namesOf('box', '')).toEqual(['box']);
    expect(namesOf('not a name', hosts)).toEqual([]);
  });

  it('includes at most 64 names', () => {
    const aliases = Array.from({ length: 100 }, (_, index) => `alias${index}`);
    const names = namesOf('box', `127.0.1.1 box ${aliases.join(' ')}\n127.0.1.1 box late`);
    expect(names).toHaveLength(64);
    expect(names).not.toContain('late');
  });

  it('reads both files, and works without them', () => {
    const folder = scratch();
    const short = hostname().split('.')[0]?.toLowerCase();
    expect(readLocalHostnames(folder)).toEqual({ names: expect.arrayContaining([short]), searchDomains: [] });
    writeFileSync(join(folder, 'resolv.conf'), 'search lab.net\n');
    writeFileSync(join(folder, 'hosts'), `127.0.1.1 ${hostname()}.lab.net ${hostname()}\n`);
    const own = readLocalHostnames(folder);
    expect(own.searchDomains).toEqual(['lab.net']);
    expect(own.names).toContain(`${hostname().toLowerCase()}.lab.net`);
  });
});
