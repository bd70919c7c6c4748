/* A plugin of LTTng-UST (LTTNG_UST_GETCPU_PLUGIN): the processor's number is what lttng_replay says.
 *
 * The constraint: LTTng loads it before main and calls it in each event, so it only reads a word.
 */
#include <lttng/ust-getcpu.h>

extern int lookback_core;
void lttng_ust_getcpu_plugin_init(void);

static int core(void)
{
	return lookback_core;
}

void lttng_ust_getcpu_plugin_init(void)
{
	lttng_ust_getcpu_override(core);
}
