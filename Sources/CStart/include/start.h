#pragma once
/* Nothing to call: a program is linked with it, or not. */
