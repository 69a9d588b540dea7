// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what libberth.so exports; everything else has hidden visibility.
#define BERTH_API __attribute__((visibility("default")))
