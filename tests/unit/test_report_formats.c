/* What people read: text, Markdown and HTML of known reports, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/report.h"
#include "sample_report.h"

/* clang-format off: lines of the expected output stay whole */
static const char comparison_text[] =
    "1,000 ycsb records, 10 fields x 100 bytes, seed 7\n"
    "redis 7.0.15 (jemalloc-5.3.0, quantum 16)   mongodb 6.0.5 (in memory, tcmalloc)\n"
    "\n"
    "bytes a record    payload  predicted  measured   missed  resident  x payload  records/s  "
    "unattributed\n"
    "redis:hash@index  1,022.9    1,866.9   1,867.3  +0.02 %   1,925.1        1.9     80,000       "
    " 0.10 %\n"
    "mongodb:document  1,022.9    1,290.4   1,282.0  -0.66 %   1,302.5        1.3     50,000       "
    " 0.92 %\n"
    "\n"
    "note: redis:string+json is incomplete: the server ended: maxmemory <reached> | \"stop\"\n"
    "note: redis:hash@index: the server's allocator is the system's\n"
    "note: redis:hash@index: size class 128: the model has 2,000 blocks, the server 1,000 (MEMORY "
    "MALLOC-STATS bins)\n"
    "\n"
    "encodings by resident bytes a record; nanoseconds of processor time a record\n"
    "rank  encoding          resident  of mongodb:document  difference  encode  decode\n"
    "   1  mongodb:document   1,302.5                1.000           -   1,741   2,040\n"
    "   2  redis:hash@index   1,925.1                1.478      +622.6      81       -\n"
    "\n"
    "bytes a record    saves  what would make it smaller\n"
    "redis:hash@index  496.0  every value passes the limit\n"
    "                   42.5  the time to live costs 42.5\n";

static const char ledger_text[] =
    "1,000 ycsb records, 10 fields x 100 bytes, seed 7\n"
    "redis 7.0.15 (jemalloc-5.3.0, quantum 16)\n"
    "\n"
    "redis:hash@index, settled\n"
    "settings: hash-max-listpack-value=64 save=3600 1\n"
    "\n"
    "stage        account                     bytes  a record  marginal  basis\n"
    "payload      key                        22,900      22.9      22.0  counted\n"
    "             values                  1,000,000   1,000.0   1,000.0  counted\n"
    "encoding     field names                60,000      60.0      60.0  counted\n"
    "structure    object                     16,000      16.0      16.0  modelled\n"
    "             field entries             240,000     240.0     240.0  modelled\n"
    "             field table               192,048     192.0            modelled\n"
    "             key table                  16,384      16.4       0.0  modelled\n"
    "rounding     rounding                  311,568     311.6            modelled\n"
    "server       client buffers              8,000       8.0            measured\n"
    "residual     unattributed.allocated        400       0.4            residual\n"
    "= allocated                          1,867,300   1,867.3   1,850.0  measured\n"
    "allocator    fragmentation              40,000      40.0            derived\n"
    "             dirty pages                12,288      12.3            derived\n"
    "process      mapped files                4,096       4.1            measured\n"
    "residual     unattributed.resident       1,436       1.4            residual\n"
    "= resident                           1,925,120   1,925.1   1,900.0  measured\n"
    "\n"
    "predicted 1,866.9, measured 1,867.3 bytes a record, missed +0.02 %\n"
    "unattributed: 0.02 % of allocated, 0.10 % of resident\n"
    "base, the empty server: 879 KiB allocated, 9.00 MiB resident\n"
    "loaded in 0.01 s, 80,000 records/s; processor time: 0.00 s in tare, 0.01 s in the server\n"
    "state input hash-seed-branch = 1, from a warm-up record's size\n"
    "\n"
    "note: the server's allocator is the system's\n"
    "note: size class 128: the model has 2,000 blocks, the server 1,000 (MEMORY MALLOC-STATS "
    "bins)\n"
    "\n"
    "blocks by size class, by MEMORY MALLOC-STATS bins:\n"
    "\n"
    "size class  blocks predicted  blocks counted   apart\n"
    "        32            10,000          10,000       0\n"
    "       128             2,000           1,000  -1,000\n"
    "\n"
    "saves  what would make it smaller, bytes a record\n"
    "496.0  every value passes the limit\n"
    " 42.5  the time to live costs 42.5\n"
    "\n"
    "command: tare run -n 1000 --seed 7\n"
    "tare 0.1.0, 2026-11-30T12:00:00Z\n"
    "environment: kernel 6.1.0; page_size 4,096\n";

static const char prediction_text[] =
    "1,000 ycsb:fieldcount=10 records, seed 7\n"
    "redis 7.4.1 (jemalloc-5.3.0, quantum 8)\n"
    "\n"
    "redis:hash, predicted\n"
    "stage        account            bytes       from         to  a record  basis\n"
    "payload      key               22,900                            22.9  counted\n"
    "             values         1,000,000                         1,000.0  counted\n"
    "encoding     field names       60,000                            60.0  counted\n"
    "structure    field entries    240,000                           240.0  modelled\n"
    "             field table      192,000    128,000    192,000     192.0  modelled\n"
    "= allocated                 1,514,900  1,450,900  1,514,900   1,514.9  modelled\n"
    "allocator    fragmentation     20,000                            20.0  modelled\n"
    "process      stacks               100                             0.1  modelled\n"
    "= resident                  1,535,000  1,471,000  1,560,000   1,535.0  modelled\n"
    "\n"
    "peak while the key table rehashes: 1.45 MiB allocated, 1,523,092 bytes\n"
    "table step at 1,025 records: +16.0 KiB, later -8.00 KiB\n"
    "table step at 2,049 records: +32.0 KiB\n"
    "\n"
    "note: layout of 7.4 verified on 7.4.1\n";

static const char gap_text[] =
    "redis:hash@index: 1,000 ycsb records, 10 fields x 100 bytes, settled; redis 7.0.15 "
    "(jemalloc-5.3.0, quantum 16); hash-max-listpack-value=64 save=3600 1\n"
    "mongodb:document: 1,000 ycsb records, 10 fields x 100 bytes, settled; mongodb 6.0.5 (in "
    "memory, tcmalloc)\n"
    "\n"
    "stage        bytes a record             redis:hash@index  mongodb:document     gap  basis\n"
    "payload      key                                    22.9              22.9     0.0  counted\n"
    "             values                              1,000.0           1,000.0     0.0  counted\n"
    "encoding     field names                            60.0              60.0     0.0  counted\n"
    "             framing                                   -              85.0   -85.0  counted\n"
    "             number form                               -              -0.1     0.1  counted\n"
    "structure    object                                 16.0                 -    16.0  modelled\n"
    "             field entries                         240.0                 -   240.0  modelled\n"
    "             field table                           192.0                 -   192.0  modelled\n"
    "             key table                              16.4                 -    16.4  modelled\n"
    "             row                                       -               8.0    -8.0  modelled\n"
    "             _id index                                 -             119.6  -119.6  modelled\n"
    "rounding     rounding                              311.6              -5.0   316.6  modelled\n"
    "server       client buffers                          8.0                 -     8.0  measured\n"
    "residual     unattributed.allocated                  0.4              -8.4     8.8  residual\n"
    "= allocated                                      1,867.3           1,282.0   585.3  measured\n"
    "allocator    thread cache                              -              20.0   -20.0  measured\n"
    "             fragmentation                          40.0                 -    40.0  derived\n"
    "             dirty pages                            12.3                 -    12.3  derived\n"
    "             untouched pages                           -              -3.0     3.0  derived\n"
    "process      mapped files                            4.1                 -     4.1  measured\n"
    "residual     unattributed.resident                   1.4               3.5    -2.1  residual\n"
    "= resident                                       1,925.1           1,302.5   622.6  measured\n"
    "             unattributed, of resident            0.10 %            0.92 %\n"
    "\n"
    "largest: rounding, +316.6 bytes a record\n"
    "what is published as memory or size, bytes a record, the empty server included:\n"
    "\n"
    "beside     as the server shows it        redis:hash@index  of total  mongodb:document   of "
    "total\n"
    "allocated  used_memory                            2,767.3   148.2 %                 -         "
    " -\n"
    "           collStats.size                               -         -           1,167.8     "
    "91.1 %\n"
    "           bytes currently in the cache                 -         -           1,350.0    "
    "105.3 %\n"
    "resident   mem.resident                                 -         -         123,732.0  "
    "9,499.4 %\n"
    "on disk    collStats.storageSize                        -         -               0.0         "
    " -\n"
    "\n"
    "note: redis:hash@index: the server's allocator is the system's\n";

static const char ledger_markdown[] =
    "# tare: every byte accounted for\n"
    "\n"
    "1,000 ycsb records, 10 fields x 100 bytes, seed 7\n"
    "\n"
    "redis 7.0.15 (jemalloc-5.3.0, quantum 16)\n"
    "\n"
    "## redis:hash@index, settled\n"
    "\n"
    "settings: hash-max-listpack-value=64 save=3600 1\n"
    "\n"
    "| stage | account | bytes | a record | marginal | basis |\n"
    "| --- | --- | ---: | ---: | ---: | --- |\n"
    "| payload | key | 22,900 | 22.9 | 22.0 | counted |\n"
    "| | values | 1,000,000 | 1,000.0 | 1,000.0 | counted |\n"
    "| encoding | field names | 60,000 | 60.0 | 60.0 | counted |\n"
    "| structure | object | 16,000 | 16.0 | 16.0 | modelled |\n"
    "| | field entries | 240,000 | 240.0 | 240.0 | modelled |\n"
    "| | field table | 192,048 | 192.0 | | modelled |\n"
    "| | key table | 16,384 | 16.4 | 0.0 | modelled |\n"
    "| rounding | rounding | 311,568 | 311.6 | | modelled |\n"
    "| server | client buffers | 8,000 | 8.0 | | measured |\n"
    "| residual | unattributed.allocated | 400 | 0.4 | | residual |\n"
    "| **= allocated** | | **1,867,300** | **1,867.3** | **1,850.0** | **measured** |\n"
    "| allocator | fragmentation | 40,000 | 40.0 | | derived |\n"
    "| | dirty pages | 12,288 | 12.3 | | derived |\n"
    "| process | mapped files | 4,096 | 4.1 | | measured |\n"
    "| residual | unattributed.resident | 1,436 | 1.4 | | residual |\n"
    "| **= resident** | | **1,925,120** | **1,925.1** | **1,900.0** | **measured** |\n"
    "\n"
    "predicted 1,866.9, measured 1,867.3 bytes a record, missed +0.02 %\n"
    "\n"
    "unattributed: 0.02 % of allocated, 0.10 % of resident\n"
    "\n"
    "base, the empty server: 879 KiB allocated, 9.00 MiB resident\n"
    "\n"
    "loaded in 0.01 s, 80,000 records/s; processor time: 0.00 s in tare, 0.01 s in the server\n"
    "\n"
    "> the server's allocator is the system's\n"
    "\n"
    "> size class 128: the model has 2,000 blocks, the server 1,000 (MEMORY MALLOC-STATS bins)\n"
    "\n"
    "| saves | what would make it smaller, bytes a record |\n"
    "| ---: | --- |\n"
    "| 496.0 | every value passes the limit |\n"
    "| 42.5 | the time to live costs 42.5 |\n"
    "\n"
    "command: tare run -n 1000 --seed 7\n"
    "\n"
    "tare 0.1.0, 2026-11-30T12:00:00Z\n"
    "\n"
    "environment: kernel 6.1.0; page\\_size 4,096\n";

static const char comparison_markdown[] =
    "# tare: every byte accounted for\n"
    "\n"
    "1,000 ycsb records, 10 fields x 100 bytes, seed 7\n"
    "\n"
    "redis 7.0.15 (jemalloc-5.3.0, quantum 16)   mongodb 6.0.5 (in memory, tcmalloc)\n"
    "\n"
    "| bytes a record | payload | predicted | measured | missed | resident | x payload | records/s "
    "| unattributed |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    "| redis:hash@index | 1,022.9 | 1,866.9 | 1,867.3 | +0.02 % | 1,925.1 | 1.9 | 80,000 | 0.10 % "
    "|\n"
    "| mongodb:document | 1,022.9 | 1,290.4 | 1,282.0 | -0.66 % | 1,302.5 | 1.3 | 50,000 | 0.92 % "
    "|\n"
    "\n"
    "> redis:string+json is incomplete: the server ended: maxmemory &lt;reached&gt; \\| \"stop\"\n"
    "\n"
    "> redis:hash@index: the server's allocator is the system's\n"
    "\n"
    "> redis:hash@index: size class 128: the model has 2,000 blocks, the server 1,000 (MEMORY "
    "MALLOC-STATS bins)\n"
    "\n"
    "## encodings by resident bytes a record; nanoseconds of processor time a record\n"
    "\n"
    "| rank | encoding | resident | of mongodb:document | difference | encode | decode |\n"
    "| ---: | --- | ---: | ---: | ---: | ---: | ---: |\n"
    "| 1 | mongodb:document | 1,302.5 | 1.000 | - | 1,741 | 2,040 |\n"
    "| 2 | redis:hash@index | 1,925.1 | 1.478 | +622.6 | 81 | - |\n"
    "\n"
    "| bytes a record | saves | what would make it smaller |\n"
    "| --- | ---: | --- |\n"
    "| redis:hash@index | 496.0 | every value passes the limit |\n"
    "| | 42.5 | the time to live costs 42.5 |\n"
    "\n";

static const char gap_markdown[] =
    "# redis:hash@index against mongodb:document\n"
    "\n"
    "redis:hash@index: 1,000 ycsb records, 10 fields x 100 bytes, settled; redis 7.0.15 "
    "(jemalloc-5.3.0, quantum 16); hash-max-listpack-value=64 save=3600 1\n"
    "\n"
    "mongodb:document: 1,000 ycsb records, 10 fields x 100 bytes, settled; mongodb 6.0.5 (in "
    "memory, tcmalloc)\n"
    "\n"
    "| stage | bytes a record | redis:hash@index | mongodb:document | gap | basis |\n"
    "| --- | --- | ---: | ---: | ---: | --- |\n"
    "| payload | key | 22.9 | 22.9 | 0.0 | counted |\n"
    "| | values | 1,000.0 | 1,000.0 | 0.0 | counted |\n"
    "| encoding | field names | 60.0 | 60.0 | 0.0 | counted |\n"
    "| | framing | - | 85.0 | -85.0 | counted |\n"
    "| | number form | - | -0.1 | 0.1 | counted |\n"
    "| structure | object | 16.0 | - | 16.0 | modelled |\n"
    "| | field entries | 240.0 | - | 240.0 | modelled |\n"
    "| | field table | 192.0 | - | 192.0 | modelled |\n"
    "| | key table | 16.4 | - | 16.4 | modelled |\n"
    "| | row | - | 8.0 | -8.0 | modelled |\n"
    "| | \\_id index | - | 119.6 | -119.6 | modelled |\n"
    "| rounding | rounding | 311.6 | -5.0 | 316.6 | modelled |\n"
    "| server | client buffers | 8.0 | - | 8.0 | measured |\n"
    "| residual | unattributed.allocated | 0.4 | -8.4 | 8.8 | residual |\n"
    "| **= allocated** | | **1,867.3** | **1,282.0** | **585.3** | **measured** |\n"
    "| allocator | thread cache | - | 20.0 | -20.0 | measured |\n"
    "| | fragmentation | 40.0 | - | 40.0 | derived |\n"
    "| | dirty pages | 12.3 | - | 12.3 | derived |\n"
    "| | untouched pages | - | -3.0 | 3.0 | derived |\n"
    "| process | mapped files | 4.1 | - | 4.1 | measured |\n"
    "| residual | unattributed.resident | 1.4 | 3.5 | -2.1 | residual |\n"
    "| **= resident** | | **1,925.1** | **1,302.5** | **622.6** | **measured** |\n"
    "| | unattributed, of resident | 0.10 % | 0.92 % | | |\n"
    "\n"
    "largest: rounding, +316.6 bytes a record\n"
    "\n"
    "what is published as memory or size, bytes a record, the empty server included:\n"
    "\n"
    "| beside | as the server shows it | redis:hash@index | of total | mongodb:document | of total "
    "|\n"
    "| --- | --- | ---: | ---: | ---: | ---: |\n"
    "| allocated | used\\_memory | 2,767.3 | 148.2 % | - | - |\n"
    "| | collStats.size | - | - | 1,167.8 | 91.1 % |\n"
    "| | bytes currently in the cache | - | - | 1,350.0 | 105.3 % |\n"
    "| resident | mem.resident | - | - | 123,732.0 | 9,499.4 % |\n"
    "| on disk | collStats.storageSize | - | - | 0.0 | - |\n"
    "\n"
    "> redis:hash@index: the server's allocator is the system's\n";

/* between the style sheet and the first ledger */
static const char comparison_html[] =
    "<h1>tare: every byte accounted for</h1>\n"
    "<p>1,000 ycsb records, 10 fields x 100 bytes, seed 7</p>\n"
    "<p>redis 7.0.15 (jemalloc-5.3.0, quantum 16)   mongodb 6.0.5 (in memory, tcmalloc)</p>\n"
    "<div class=\"scroll\"><table>\n"
    "<thead><tr><th>bytes a record</th><th class=\"number\">payload</th><th "
    "class=\"number\">predicted</th><th class=\"number\">measured</th><th "
    "class=\"number\">missed</th><th class=\"number\">resident</th><th class=\"number\">x "
    "payload</th><th class=\"number\">records/s</th><th "
    "class=\"number\">unattributed</th></tr></thead>\n"
    "<tbody>\n"
    "<tr><td>redis:hash@index</td><td class=\"number\">1,022.9</td><td "
    "class=\"number\">1,866.9</td><td class=\"number\">1,867.3</td><td class=\"number\">+0.02 "
    "%</td><td class=\"number\">1,925.1</td><td class=\"number\">1.9</td><td "
    "class=\"number\">80,000</td><td class=\"number\">0.10 %</td></tr>\n"
    "<tr><td>mongodb:document</td><td class=\"number\">1,022.9</td><td "
    "class=\"number\">1,290.4</td><td class=\"number\">1,282.0</td><td class=\"number\">-0.66 "
    "%</td><td class=\"number\">1,302.5</td><td class=\"number\">1.3</td><td "
    "class=\"number\">50,000</td><td class=\"number\">0.92 %</td></tr>\n"
    "</tbody>\n"
    "</table></div>\n"
    "<p class=\"note\">redis:string+json is incomplete: the server ended: maxmemory "
    "&lt;reached&gt; | &quot;stop&quot;</p>\n"
    "<p class=\"note\">redis:hash@index: the server&#39;s allocator is the system&#39;s</p>\n"
    "<p class=\"note\">redis:hash@index: size class 128: the model has 2,000 blocks, the server "
    "1,000 (MEMORY MALLOC-STATS bins)</p>\n"
    "<h2>encodings by resident bytes a record; nanoseconds of processor time a record</h2>\n"
    "<div class=\"scroll\"><table>\n"
    "<thead><tr><th class=\"number\">rank</th><th>encoding</th><th "
    "class=\"number\">resident</th><th "
    "class=\"number\">of mongodb:document</th><th class=\"number\">difference</th><th "
    "class=\"number\">encode</th><th class=\"number\">decode</th></tr></thead>\n"
    "<tbody>\n"
    "<tr><td class=\"number\">1</td><td>mongodb:document</td><td class=\"number\">1,302.5</td><td "
    "class=\"number\">1.000</td><td class=\"number\">-</td><td class=\"number\">1,741</td><td "
    "class=\"number\">2,040</td></tr>\n"
    "<tr><td class=\"number\">2</td><td>redis:hash@index</td><td class=\"number\">1,925.1</td><td "
    "class=\"number\">1.478</td><td class=\"number\">+622.6</td><td class=\"number\">81</td><td "
    "class=\"number\">-</td></tr>\n"
    "</tbody>\n"
    "</table></div>\n"
    "<div class=\"scroll\"><table>\n"
    "<thead><tr><th>bytes a record</th><th class=\"number\">saves</th><th>what would make it "
    "smaller</th></tr></thead>\n"
    "<tbody>\n"
    "<tr><td>redis:hash@index</td><td class=\"number\">496.0</td><td>every value passes the "
    "limit</td></tr>\n"
    "<tr><td></td><td class=\"number\">42.5</td><td>the time to live costs 42.5</td></tr>\n"
    "</tbody>\n"
    "</table></div>\n"
    "<div class=\"bars\">\n"
    "<div>redis:hash@index</div><div class=\"bar\"><span class=\"s0\" style=\"width: 53.1349%\" "
    "title=\"payload: 1,022.9 bytes a record\"></span><span class=\"s1\" style=\"width: 3.1167%\" "
    "title=\"encoding: 60.0 bytes a record\"></span><span class=\"s2\" style=\"width: 24.1234%\" "
    "title=\"structure: 464.4 bytes a record\"></span><span class=\"s3\" style=\"width: 16.1862%\" "
    "title=\"rounding: 311.6 bytes a record\"></span><span class=\"s4\" style=\"width: 0.4156%\" "
    "title=\"server: 8.0 bytes a record\"></span><span class=\"s5\" style=\"width: 2.7167%\" "
    "title=\"allocator: 52.3 bytes a record\"></span><span class=\"s6\" style=\"width: 0.213%\" "
    "title=\"process: 4.1 bytes a record\"></span><span class=\"s7\" style=\"width: 0.0935%\" "
    "title=\"unattributed: 1.8 bytes a record\"></span></div><div>1,925.1</div>\n"
    "<div>mongodb:document</div><div class=\"bar\"><span class=\"s0\" style=\"width: 53.1349%\" "
    "title=\"payload: 1,022.9 bytes a record\"></span><span class=\"s1\" style=\"width: 7.5269%\" "
    "title=\"encoding: 144.9 bytes a record\"></span><span class=\"s2\" style=\"width: 6.6282%\" "
    "title=\"structure: 127.6 bytes a record\"></span><span class=\"s5\" style=\"width: 0.8831%\" "
    "title=\"allocator: 17.0 bytes a record\"></span></div><div>1,302.5, with rounding -5.0, with "
    "unattributed -4.9</div>\n"
    "</div>\n"
    "<p class=\"key\">bytes a record: <span class=\"s0\"></span>payload <span "
    "class=\"s1\"></span>encoding <span class=\"s2\"></span>structure <span "
    "class=\"s3\"></span>rounding <span class=\"s4\"></span>server <span "
    "class=\"s5\"></span>allocator <span class=\"s6\"></span>process <span "
    "class=\"s7\"></span>unattributed</p>\n";

static const char prediction_html[] =
    "<h2>redis:hash, predicted</h2>\n"
    "<div class=\"scroll\"><table>\n"
    "<thead><tr><th>stage</th><th>account</th><th class=\"number\">bytes</th><th "
    "class=\"number\">from</th><th class=\"number\">to</th><th class=\"number\">a "
    "record</th><th>basis</th></tr></thead>\n"
    "<tbody>\n"
    "<tr><td>payload</td><td>key</td><td class=\"number\">22,900</td><td class=\"number\"></td><td "
    "class=\"number\"></td><td class=\"number\">22.9</td><td>counted</td></tr>\n"
    "<tr><td></td><td>values</td><td class=\"number\">1,000,000</td><td class=\"number\"></td><td "
    "class=\"number\"></td><td class=\"number\">1,000.0</td><td>counted</td></tr>\n"
    "<tr><td>encoding</td><td>field names</td><td class=\"number\">60,000</td><td "
    "class=\"number\"></td><td class=\"number\"></td><td "
    "class=\"number\">60.0</td><td>counted</td></tr>\n"
    "<tr><td>structure</td><td>field entries</td><td class=\"number\">240,000</td><td "
    "class=\"number\"></td><td class=\"number\"></td><td "
    "class=\"number\">240.0</td><td>modelled</td></tr>\n"
    "<tr><td></td><td>field table</td><td class=\"number\">192,000</td><td "
    "class=\"number\">128,000</td><td class=\"number\">192,000</td><td "
    "class=\"number\">192.0</td><td>modelled</td></tr>\n"
    "<tr class=\"total\"><td>= allocated</td><td></td><td class=\"number\">1,514,900</td><td "
    "class=\"number\">1,450,900</td><td class=\"number\">1,514,900</td><td "
    "class=\"number\">1,514.9</td><td>modelled</td></tr>\n"
    "<tr><td>allocator</td><td>fragmentation</td><td class=\"number\">20,000</td><td "
    "class=\"number\"></td><td class=\"number\"></td><td "
    "class=\"number\">20.0</td><td>modelled</td></tr>\n"
    "<tr><td>process</td><td>stacks</td><td class=\"number\">100</td><td class=\"number\"></td><td "
    "class=\"number\"></td><td class=\"number\">0.1</td><td>modelled</td></tr>\n"
    "<tr class=\"total\"><td>= resident</td><td></td><td class=\"number\">1,535,000</td><td "
    "class=\"number\">1,471,000</td><td class=\"number\">1,560,000</td><td "
    "class=\"number\">1,535.0</td><td>modelled</td></tr>\n"
    "</tbody>\n"
    "</table></div>\n"
    "<p>peak while the key table rehashes: 1.45 MiB allocated, 1,523,092 bytes</p>\n"
    "<p>table step at 1,025 records: +16.0 KiB, later -8.00 KiB</p>\n"
    "<p>table step at 2,049 records: +32.0 KiB</p>\n"
    "<p class=\"note\">layout of 7.4 verified on 7.4.1</p>\n"
    "<p>command: tare run -n 1000 --seed 7</p>\n"
    "<p>tare 0.1.0, 2026-11-30T12:00:00Z</p>\n"
    "<p>environment: kernel 6.1.0; page_size 4,096</p>\n"
    "</body>\n"
    "</html>\n";
/* clang-format on */

static void same_text(const char *format, const struct report *report, int verbose,
                      const char *expected)
{
    const struct report_style style = {.verbose = verbose};
    struct buffer out = {0};
    format_of_name(format, NULL)->render(report, &style, &out);
    assert_string_equal(out.data, expected);
    buffer_free(&out);
}

static void comparison_as_text(void **state)
{
    struct report report;
    (void)state;
    sample_report(&report);
    same_text("text", &report, 0, comparison_text);
    report_free(&report);
}

static void ledger_as_text(void **state)
{
    struct report report;
    (void)state;
    sample_of(&report, sample_redis);
    same_text("text", &report, 1, ledger_text);
    report_free(&report);
}

static void prediction_as_text(void **state)
{
    struct report report;
    (void)state;
    sample_of(&report, sample_predicted);
    same_text("text", &report, 0, prediction_text);
    report_free(&report);
}

static void ledger_as_markdown(void **state)
{
    struct report report;
    (void)state;
    sample_of(&report, sample_redis);
    same_text("markdown", &report, 0, ledger_markdown);
    report_free(&report);
}

/* The text of the part of `out` that is as long as `expected`, from `begin`. */
static void same_part(const char *out, const char *begin, const char *expected)
{
    const char *place = strstr(out, begin);
    assert_non_null(place);
    char *part = memory_text_n(place, strnlen(place, strlen(expected)));
    assert_string_equal(part, expected);
    free(part);
}

static void comparison_as_markdown_and_html(void **state)
{
    const struct report_style style = {0};
    struct report report;
    struct buffer out = {0};
    (void)state;
    sample_report(&report);
    format_of_name("markdown", NULL)->render(&report, &style, &out);
    same_part(out.data, "# tare", comparison_markdown);
    buffer_clear(&out);
    format_of_name("html", NULL)->render(&report, &style, &out);
    same_part(out.data, "<h1>", comparison_html);
    /* one file that asks for nothing */
    assert_null(strstr(out.data, "http"));
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "<reached>"));
    buffer_clear(&out);
    report_free(&report);
    sample_of(&report, sample_predicted);
    format_of_name("html", NULL)->render(&report, &style, &out);
    same_part(out.data, "<h2>", prediction_html);
    buffer_free(&out);
    report_free(&report);
}

static void gap_as_text_and_markdown(void **state)
{
    const struct report_style style = {0};
    struct report report;
    struct buffer out = {0};
    (void)state;
    sample_report(&report);
    const struct cell *a = &report.cells[0], *b = &report.cells[1];
    format_of_name("text", NULL)->render_gap(a, a->states, b, b->states, &style, &out);
    assert_string_equal(out.data, gap_text);
    buffer_clear(&out);
    format_of_name("markdown", NULL)->render_gap(a, a->states, b, b->states, &style, &out);
    assert_string_equal(out.data, gap_markdown);
    buffer_free(&out);
    report_free(&report);
}

/* The number in a line's cell, in tenths, where columns are at least two blanks apart. */
static bool tenths_at(const char *line, size_t end_column, int64_t *tenths)
{
    int64_t number = 0;
    bool any = false;
    size_t begin = end_column;
    while (begin > 0 && line[begin - 1] != ' ')
        begin--;
    for (size_t i = begin; i < end_column; i++) {
        if (line[i] >= '0' && line[i] <= '9') {
            number = number * 10 + (line[i] - '0');
            any = true;
        }
    }
    *tenths = line[begin] == '-' ? -number : number;
    return any;
}

/* What is printed adds up, in each of the gap's columns, line by line. */
static void printed_gap_adds_up(void **state)
{
    const struct report_style style = {0};
    struct report report;
    struct buffer out = {0};
    size_t totals = 0;
    (void)state;
    sample_report(&report);
    struct cell *a = &report.cells[0], *b = &report.cells[1];
    a->records = 997; /* so that everything needs rounding */
    b->records = 1009;
    format_of_name("text", NULL)->render_gap(a, a->states, b, b->states, &style, &out);
    const char *heading = strstr(out.data, "stage ");
    assert_non_null(heading);
    const size_t ends[3] = {
        (size_t)(strstr(heading, "redis:hash@index") - heading) + strlen("redis:hash@index"),
        (size_t)(strstr(heading, "mongodb:document") - heading) + strlen("mongodb:document"),
        (size_t)(strstr(heading, " gap ") - heading) + strlen(" gap"),
    };
    int64_t sums[3] = {0};
    for (const char *line = strchr(heading, '\n') + 1;
         strncmp(line, "= resident", 10) != 0 || totals < 2; line = strchr(line, '\n') + 1) {
        int64_t tenths[3] = {0};
        for (size_t i = 0; i < 3; i++)
            tenths_at(line, ends[i], &tenths[i]);
        assert_int_equal(tenths[0] - tenths[1], tenths[2]);
        for (size_t i = 0; i < 3; i++) {
            if (line[0] == '=')
                assert_int_equal(sums[i], tenths[i]);
            else
                sums[i] += tenths[i];
        }
        totals += line[0] == '=';
        if (totals == 2)
            break;
    }
    assert_int_equal(totals, 2);
    buffer_free(&out);
    report_free(&report);
}

static void only_headings_are_bold(void **state)
{
    const struct report_style style = {.color = true};
    struct report report;
    struct buffer out = {0}, plain = {0};
    (void)state;
    sample_of(&report, sample_redis);
    format_of_name("text", NULL)->render(&report, &style, &out);
    for (size_t i = 0; i < out.length; i++) {
        if (out.data[i] != '\033')
            buffer_byte(&plain, out.data[i]);
        else
            i += strcspn(out.data + i, "m");
    }
    assert_non_null(strstr(out.data, "\033[1mredis:hash@index, settled\033[0m\n"));
    same_text("text", &report, 0, plain.data);
    buffer_free(&out);
    buffer_free(&plain);
    report_free(&report);
}

static void texts_from_elsewhere_move_no_cursor(void **state)
{
    static const char *const formats[] = {"text", "markdown", "html", "csv", "json"};
    const struct report_style style = {.verbose = 1};
    struct report report;
    (void)state;
    sample_report(&report);
    free(report.cells[2].error);
    report.cells[2].error = memory_text("bad\033[2J\rname\xff");
    free(report.cells[1].settings);
    report.cells[1].settings = memory_text("a=\033[2J");
    for (size_t i = 0; i < 3; i++) {
        struct buffer out = {0};
        format_of_name(formats[i], NULL)->render(&report, &style, &out);
        assert_null(memchr(out.data, '\033', out.length));
        assert_null(memchr(out.data, '\r', out.length));
        assert_null(memchr(out.data, 0xff, out.length));
        buffer_free(&out);
    }
    report_free(&report);
}

static void nothing_is_a_report_too(void **state)
{
    struct report report;
    (void)state;
    sample_begin(&report);
    same_text("text", &report, 0, "no cell was weighed\n");
    report_free(&report);
    sample_of(&report, sample_broken);
    same_text("text", &report, 0,
              "1,000 ycsb records, 10 fields x 100 bytes, seed 7\n"
              "redis 7.0.15 (jemalloc-5.3.0, quantum 16)\n"
              "\n"
              "note: redis:string+json is incomplete: the server ended: maxmemory <reached> | "
              "\"stop\"\n");
    report_free(&report);
}

/* No records: no bytes a record, but bytes. */
static void no_records_have_no_average(void **state)
{
    struct report report;
    struct buffer out = {0};
    const struct report_style style = {0};
    (void)state;
    sample_of(&report, sample_redis);
    report.cells[0].records = 0;
    format_of_name("text", NULL)->render(&report, &style, &out);
    assert_non_null(strstr(out.data, "= resident                           1,925,120         -"));
    assert_null(strstr(out.data, "nan"));
    assert_null(strstr(out.data, "inf"));
    buffer_clear(&out);
    format_of_name("csv", NULL)->render(&report, &style, &out);
    assert_non_null(strstr(out.data, ",total.resident,total,measured,1925120,,"));
    buffer_free(&out);
    report_free(&report);
}

/* Several states and data sets get columns of their own. */
static void states_and_data_are_told_apart(void **state)
{
    struct report report;
    struct buffer out = {0};
    const struct report_style style = {0};
    (void)state;
    sample_report(&report);
    free(report.cells[1].states[0].state);
    report.cells[1].states[0].state = memory_text("restarted");
    free(report.cells[1].dataset);
    report.cells[1].dataset = memory_text("kv");
    format_of_name("text", NULL)->render(&report, &style, &out);
    assert_non_null(strstr(out.data, "bytes a record    state      data  "));
    assert_non_null(strstr(out.data, "mongodb:document  restarted  kv    1,022.9"));
    assert_null(strstr(out.data, "  records  "));
    report.cells[1].records = 500;
    buffer_clear(&out);
    format_of_name("text", NULL)->render(&report, &style, &out);
    assert_non_null(strstr(out.data, "mongodb:document  restarted  kv        500  "));
    buffer_free(&out);
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparison_as_text),
        cmocka_unit_test(ledger_as_text),
        cmocka_unit_test(prediction_as_text),
        cmocka_unit_test(ledger_as_markdown),
        cmocka_unit_test(comparison_as_markdown_and_html),
        cmocka_unit_test(gap_as_text_and_markdown),
        cmocka_unit_test(printed_gap_adds_up),
        cmocka_unit_test(only_headings_are_bold),
        cmocka_unit_test(texts_from_elsewhere_move_no_cursor),
        cmocka_unit_test(nothing_is_a_report_too),
        cmocka_unit_test(no_records_have_no_average),
        cmocka_unit_test(states_and_data_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
